/** What diagnose looks at, in the order in which it tells. */
export const checkNames: ReadonlyArray<string> = [
  "csi-address",
  "driver-socket",
  "driver-connects",
  "driver-speaks-http2",
  "get-plugin-info",
  "driver-name",
  "probe",
  "get-plugin-capabilities",
  "node-get-info",
  "registration-folder",
  "folder-on-host",
  "registration-sockets",
  "path-lengths",
  "endpoint",
  "registrar",
  "kubelet"
]
