/**
 * DaemonSets with our image beside the CSI driver of Kubernetes' own end-to-end tests. Without options: the example of the
 * README with probes every second, in the tightest security context that the registrar can have.
 */
import { basename, dirname, join } from "node:path"

import { imageNames } from "./images.ts"
import type { Container, DaemonSet, PodSpec, Probe } from "./objects.ts"

export const namespace = "default"
export const registrarName = "node-driver-registrar"
export const driverContainerName = "driver"

/** Where a driver's socket is on the host, unless a case says otherwise. */
const endpoint = (driver: string) => `/var/lib/kubelet/plugins/${driver}/csi.sock`
const csiAddress = "/csi/csi.sock"

/** Each pod has a network of its own. */
export const port = 9_809

export interface Options {
  /** The driver's socket as the host sees it, and as our container does. */
  readonly socket?: { readonly host: string; readonly container: string }
  /** Our container, when it is not the README's; the mounts are added. */
  readonly registrar?: Container
  /** Flags of driver/main.go. */
  readonly driverFlags?: ReadonlyArray<string>
  /** What is mounted at /registration. */
  readonly registryFolder?: string
  readonly pod?: Partial<PodSpec>
}

const httpProbe = (path: string): Probe => ({
  httpGet: { path, port },
  periodSeconds: 1,
  timeoutSeconds: 5
})

const registrarContainer = (driver: string): Container => ({
  name: registrarName,
  image: imageNames.registrar,
  imagePullPolicy: "Never",
  args: [
    `--csi-address=${csiAddress}`,
    `--kubelet-registration-path=${endpoint(driver)}`,
    `--http-endpoint=:${port}`,
    "--v=5"
  ],
  livenessProbe: httpProbe("/livez"),
  readinessProbe: httpProbe("/readyz"),
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
    seccompProfile: { type: "RuntimeDefault" }
  }
})

export const driverContainer = (driver: string, address: string, flags: ReadonlyArray<string>): Container => ({
  name: driverContainerName,
  image: imageNames.driver,
  imagePullPolicy: "Never",
  args: [`-name=${driver}`, `-address=${address}`, ...flags],
  volumeMounts: [{ name: "plugin-dir", mountPath: dirname(address) }]
})

export const daemonSet = (driver: string, options: Options = {}): DaemonSet => {
  const labels = { app: driver }
  const {
    socket = { host: endpoint(driver), container: csiAddress },
    registrar = registrarContainer(driver),
    driverFlags = [],
    registryFolder = "/var/lib/kubelet/plugins_registry"
  } = options
  const volumeMounts = [
    { name: "plugin-dir", mountPath: dirname(socket.container) },
    { name: "registration-dir", mountPath: "/registration" }
  ]
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: driver, namespace },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...options.pod,
          containers: [
            { ...registrar, volumeMounts },
            driverContainer(driver, join("/csi", basename(socket.container)), driverFlags)
          ],
          volumes: [
            { name: "plugin-dir", hostPath: { path: dirname(socket.host), type: "DirectoryOrCreate" } },
            { name: "registration-dir", hostPath: { path: registryFolder, type: "Directory" } }
          ]
        }
      }
    }
  }
}
