/**
 * The configuration files of the node, written into its folder: containerd's, the kubelet's, and who may call the API server.
 *
 * They hold for a machine of which little is known: cgroups of either version, no systemd, any amount of free disk. A pod's
 * own network is a pair of devices that ends in the node's, which is where everything ends.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { imageNames } from "./images.ts"

export const nodeName = "node-1"
export const nodeAddress = "10.99.0.1"

/** Where Debian puts them. */
export const cniPlugins = "/usr/lib/cni"
const podSubnet = "10.99.1.0/24"

/** Where things are, by absolute path; `folder` is the same inside and outside of the node. */
export const pathsIn = (folder: string) => ({
  folder,
  adminConfig: join(folder, "admin.kubeconfig"),
  /** The API without a credential: that of an administrator is the proxy's. */
  apiSocket: join(folder, "api.sock"),
  cni: join(folder, "cni"),
  containerdConfig: join(folder, "containerd.toml"),
  containerdSocket: join(folder, "containerd.sock"),
  containerdState: join(folder, "containerd"),
  kubeletConfig: join(folder, "kubelet.json"),
  kubeletPki: join(folder, "pki/kubelet"),
  /** What each program of the node says: NAME.log. */
  logs: join(folder, "logs"),
  nodeConfig: join(folder, "node.kubeconfig"),
  pki: join(folder, "pki"),
  /** What each container says: NAMESPACE_POD_UID/CONTAINER/RESTARTS.log. */
  podLogs: join(folder, "pods"),
  serviceAccountKey: join(folder, "pki/serviceaccount.key"),
  serviceAccountPublicKey: join(folder, "pki/serviceaccount.pub"),
  tokens: join(folder, "pki/tokens.csv")
})

export type Paths = ReturnType<typeof pathsIn>

const containerdToml = (paths: Paths) => `
version = 2
root = "/var/lib/containerd"
state = "${paths.containerdState}"
oom_score = 0
disabled_plugins = [
  "io.containerd.internal.v1.opt",
  "io.containerd.internal.v1.tracing",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.tracing.processor.v1.otlp"
]
[grpc]
  address = "${paths.containerdSocket}"
[ttrpc]
  address = "${paths.containerdSocket}.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${imageNames.pause}"
  disable_apparmor = true
  disable_tcp_service = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniPlugins}"
    conf_dir = "${paths.cni}"
`

const podNetwork = {
  cniVersion: "0.4.0",
  name: "pods",
  plugins: [{ type: "ptp", ipam: { type: "host-local", subnet: podSubnet, dataDir: "/run/cni" } }]
}

const kubeletConfiguration = (paths: Paths) => ({
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  containerRuntimeEndpoint: `unix://${paths.containerdSocket}`,
  podLogsDir: paths.podLogs,
  volumePluginDir: "/var/lib/kubelet/volumeplugins",
  resolvConf: "",
  address: nodeAddress,
  readOnlyPort: 0,
  healthzPort: 0,
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: "AlwaysAllow" },
  // Of the machine nothing is managed and nothing is required.
  cgroupDriver: "cgroupfs",
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  failCgroupV1: false,
  failSwapOn: false,
  localStorageCapacityIsolation: false,
  makeIPTablesUtilChains: false,
  oomScoreAdj: 0,
  imageGCHighThresholdPercent: 100,
  evictionHard: Object.fromEntries(
    ["memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree"].map(
      (signal) => [signal, "0%"]
    )
  )
})

const kubeconfig = (token: string) => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "cluster", cluster: { server: `https://${nodeAddress}:6443`, "insecure-skip-tls-verify": true } }],
  users: [{ name: "user", user: { token } }],
  contexts: [{ name: "context", context: { cluster: "cluster", user: "user" } }],
  "current-context": "context"
})

/** Writes all of them; the folder is there and empty. */
export const writeConfiguration = (folder: string): Paths => {
  const paths = pathsIn(folder)
  for (const directory of [paths.cni, paths.logs, paths.pki, paths.podLogs]) mkdirSync(directory)
  const json = (file: string, value: unknown) => writeFileSync(file, JSON.stringify(value, null, 2))

  writeFileSync(paths.containerdConfig, containerdToml(paths))
  json(join(paths.cni, "pods.conflist"), podNetwork)
  json(paths.kubeletConfig, kubeletConfiguration(paths))

  const [admin, node] = [randomBytes(16).toString("hex"), randomBytes(16).toString("hex")]
  writeFileSync(paths.tokens, `${admin},admin,1,system:masters\n${node},system:node:${nodeName},2,system:nodes\n`)
  json(paths.adminConfig, kubeconfig(admin))
  json(paths.nodeConfig, kubeconfig(node))
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" }
  })
  writeFileSync(paths.serviceAccountPublicKey, publicKey)
  writeFileSync(paths.serviceAccountKey, privateKey)
  return paths
}
