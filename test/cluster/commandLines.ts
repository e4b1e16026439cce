/** How each program of the node is started. */
import { join } from "node:path"

import { nodeAddress, nodeName, type Paths } from "./configuration.ts"

const etcdUrl = "http://127.0.0.1:2379"

/** Name → command; `bin` is the folder of Kubernetes' programs. */
export const commandLines = (paths: Paths, bin: string) => ({
  containerd: ["containerd", `--config=${paths.containerdConfig}`],

  etcd: [
    "etcd",
    "--name=node",
    "--data-dir=/var/lib/etcd",
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    "--listen-peer-urls=http://127.0.0.1:2380"
  ],

  "kube-apiserver": [
    join(bin, "kube-apiserver"),
    `--etcd-servers=${etcdUrl}`,
    `--bind-address=${nodeAddress}`,
    `--advertise-address=${nodeAddress}`,
    "--service-cluster-ip-range=10.96.0.0/24",
    `--cert-dir=${paths.pki}`,
    `--token-auth-file=${paths.tokens}`,
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--disable-admission-plugins=ServiceAccount",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${paths.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${paths.serviceAccountKey}`,
    "--allow-privileged=true",
    // The node's name is in no DNS; `kubectl logs` and `exec` go by this.
    "--kubelet-preferred-address-types=InternalIP",
    "--profiling=false"
  ],

  "kubectl-proxy": [
    join(bin, "kubectl"),
    `--kubeconfig=${paths.adminConfig}`,
    "proxy",
    `--unix-socket=${paths.apiSocket}`
  ],

  "kube-controller-manager": [
    join(bin, "kube-controller-manager"),
    `--kubeconfig=${paths.adminConfig}`,
    `--service-account-private-key-file=${paths.serviceAccountKey}`,
    "--bind-address=127.0.0.1",
    "--leader-elect=false",
    // That of the node's lifecycle takes the taint off a new node, that of garbage completes a deletion in the foreground.
    "--controllers=daemonset-controller,garbage-collector-controller,node-lifecycle-controller"
  ],

  "kube-scheduler": [
    join(bin, "kube-scheduler"),
    `--kubeconfig=${paths.adminConfig}`,
    "--bind-address=127.0.0.1",
    "--leader-elect=false"
  ],

  kubelet: [
    join(bin, "kubelet"),
    `--kubeconfig=${paths.nodeConfig}`,
    `--config=${paths.kubeletConfig}`,
    "--root-dir=/var/lib/kubelet",
    `--cert-dir=${paths.kubeletPki}`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${nodeAddress}`,
    // Tells what each probe has answered, and what the CSI handler does.
    "--v=4"
  ]
})

export type ServiceName = keyof ReturnType<typeof commandLines>
