/** What is right and wrong with the driver, from what was found at its socket. Pure. */
import { driverNameFault } from "../driver/driverName.ts"
import { codeName, grpcCode, type Reply } from "./call.ts"
import type { Calls, DriverFacts } from "./driverFacts.ts"
import type { Greeting } from "./greet.ts"
import type { FileFacts } from "./lookAtFile.ts"
import { readCapabilities, readNodeInfo, readPluginInfo, readProbe } from "./messages.ts"
import { type Check, failed, ok, unknown, warning } from "./report.ts"
import { ownerText, seconds } from "./texts.ts"

const names = {
  file: "driver-socket",
  connects: "driver-connects",
  speaks: "driver-speaks-http2",
  getPluginInfo: "get-plugin-info",
  name: "driver-name",
  probe: "probe",
  getPluginCapabilities: "get-plugin-capabilities",
  nodeGetInfo: "node-get-info"
}

/** The name that the driver has told, legal or not; undefined when it has told none. */
export const toldName = (facts: DriverFacts | undefined): string | undefined => {
  const reply = facts?.calls?.getPluginInfo
  return reply?.code === grpcCode.ok ? readPluginInfo(reply.response)?.name : undefined
}

/** `facts` are undefined when the address cannot be used; `callTimeoutMs` is the `--timeout` of the registrar. */
export const driverChecks = (facts: DriverFacts | undefined, callTimeoutMs: number): ReadonlyArray<Check> => {
  if (facts === undefined) {
    return [later(names.file, "csi-address"), later(names.connects, names.file), laterSpeaks, ...laterCalls]
  }
  const { greeting, calls, socketPath } = facts
  return [
    fileCheck(facts),
    greeting === undefined ? later(names.connects, names.file) : connectsCheck(socketPath, greeting),
    greeting === undefined || greeting.kind === "noConnection" ? laterSpeaks : speaksCheck(socketPath, greeting),
    ...(calls === undefined ? laterCalls : callChecks(calls, callTimeoutMs))
  ]
}

const later = (name: string, after: string): Check => unknown(name, `not looked at, since ${after} is not ok`)

const fileCheck = ({ socketPath, file }: DriverFacts): Check => {
  switch (file.kind) {
    case "hangs":
      return failed(
        names.file,
        "file-system-hangs",
        `${socketPath}: no answer from the file system`,
        "the volume that holds the socket hangs",
        "look at the mount on the node"
      )
    case "error":
      return file.code === "EACCES"
        ? failed(
            names.file,
            "permission-denied",
            `${socketPath}: uid ${process.getuid?.()} may not look into its folder`,
            "the registrar cannot reach the driver",
            "run as root or as the driver's user; with SELinux enforcing, give both containers the same label"
          )
        : failed(
            names.file,
            "driver-not-started",
            `${socketPath}: ${file.code}`,
            "there is no socket at this path",
            "check the path in --csi-address"
          )
    case "missing":
      return missing(socketPath, file)
    case "there":
      return file.type === "socket"
        ? ok(names.file, `${socketPath}, ${ownerText(file)}, may be connected to by ${whoMay(file)}`)
        : failed(
            names.file,
            "not-a-socket",
            `${socketPath} is ${file.type === "folder" ? "a folder" : "no socket"}`,
            "nothing can listen there",
            "let --csi-address name the socket that the driver listens on; a folder of that name is often a mount whose source is missing"
          )
  }
}

const missing = (socketPath: string, { beside }: Extract<FileFacts, { kind: "missing" }>): Check => {
  const around =
    beside === undefined
      ? "nor does its folder"
      : beside.length === 0
        ? "its folder is empty"
        : `its folder holds ${beside.slice(0, 5).join(", ")}`
  return failed(
    names.file,
    "driver-not-started",
    `${socketPath} does not exist; ${around}`,
    "the driver does not run, listens at another path, or puts its socket into another volume",
    "look at the driver's container and its log; its socket has to lie in a volume that both containers mount, where --csi-address says"
  )
}

const whoMay = ({ mode, uid, gid }: Extract<FileFacts, { kind: "there" }>): string => {
  const may = [
    ...(mode & 0o200 && uid !== 0 ? [`uid ${uid}`] : []),
    ...(mode & 0o020 ? [`gid ${gid}`] : []),
    ...(mode & 0o002 ? ["everybody"] : [])
  ]
  return may.includes("everybody") ? "everybody" : ["root", ...may].join(", ")
}

const connectsCheck = (socketPath: string, greeting: Greeting): Check => {
  if (greeting.kind !== "noConnection") return ok(names.connects, "somebody listens")
  switch (greeting.code) {
    case "ECONNREFUSED":
      return failed(
        names.connects,
        "socket-dead",
        `connect to ${socketPath}: connection refused, nobody listens`,
        "the socket is left over from a driver that has ended, or its driver has bound it and does not listen yet",
        "look at the driver's container; if it runs, it listens elsewhere"
      )
    case "EACCES":
    case "EPERM":
      return failed(
        names.connects,
        "permission-denied",
        `connect to ${socketPath}: permission denied for uid ${process.getuid?.()}`,
        "the registrar may not speak to the driver",
        "run as the driver's user or as root; with SELinux enforcing, give both containers the same label, or privileged: true"
      )
    case "EAGAIN":
      return failed(
        names.connects,
        "driver-mute",
        `connect to ${socketPath}: its queue is full, nobody accepts`,
        "the driver hangs",
        "look at the driver's log; restart its container"
      )
    default:
      return failed(
        names.connects,
        greeting.code === "ENOENT" ? "driver-not-started" : "socket-dead",
        `connect to ${socketPath}: ${greeting.code}`,
        "it must be a stream socket that the driver serves",
        "look at the driver's container"
      )
  }
}

const speaksCheck = (socketPath: string, greeting: Exclude<Greeting, { readonly kind: "noConnection" }>): Check => {
  switch (greeting.kind) {
    case "http2":
      return ok(names.speaks, `greeted back after ${seconds(greeting.tookMs)}`)
    case "http1":
      return failed(
        names.speaks,
        "driver-speaks-http1",
        `${socketPath} answers in HTTP/1`,
        "whoever listens there is no CSI driver: gRPC needs HTTP/2",
        "let --csi-address name the driver's gRPC socket, not one of its health or debug endpoints"
      )
    case "silent":
      return failed(
        names.speaks,
        "driver-mute",
        `${socketPath} accepts connections and says nothing`,
        "the driver hangs, or it is no gRPC server",
        "look at the driver's log; restart its container"
      )
    case "hangsUp":
      return failed(
        names.speaks,
        "driver-speaks-no-http2",
        `${socketPath} accepts connections and hangs up`,
        "it is no gRPC server, or one that serves TLS only, or one that is about to end",
        "let --csi-address name the driver's gRPC socket, without TLS"
      )
    case "stranger":
      return failed(
        names.speaks,
        "driver-speaks-no-http2",
        `${socketPath} says ${JSON.stringify(greeting.first)}, which is no HTTP/2`,
        "whoever listens there is no CSI driver",
        "let --csi-address name the driver's gRPC socket"
      )
  }
}

const laterSpeaks = later(names.speaks, names.connects)
const laterCalls = [names.getPluginInfo, names.name, names.probe, names.getPluginCapabilities, names.nodeGetInfo].map(
  (name) => later(name, names.speaks)
)

const callChecks = (calls: Calls, callTimeoutMs: number): ReadonlyArray<Check> => [
  ...pluginInfoChecks(calls.getPluginInfo, callTimeoutMs),
  probeCheck(calls.probe),
  capabilitiesCheck(calls.getPluginCapabilities),
  nodeInfoCheck(calls.nodeGetInfo)
]

const errorText = ({ code, message, tookMs }: Reply) => `${codeName(code)} after ${seconds(tookMs)}: ${message}`

const pluginInfoChecks = (reply: Reply, callTimeoutMs: number): ReadonlyArray<Check> => {
  const name = names.getPluginInfo
  const limit = `--timeout=${seconds(callTimeoutMs)}`
  if (reply.code === grpcCode.deadlineExceeded) {
    const means = "the driver hangs, or waits for something before it answers"
    return [
      failed(name, "driver-slow", errorText(reply), means, "look at the driver's log: what does it wait for?"),
      later(names.name, name)
    ]
  }
  if (reply.code !== grpcCode.ok) {
    const absent = reply.code === grpcCode.unimplemented
    return [
      failed(
        name,
        "driver-answers-error",
        errorText(reply),
        absent ? "the socket serves gRPC, but not csi.v1.Identity" : "the driver does not tell its name",
        absent ? "let --csi-address name the CSI driver's own socket" : "look at the driver's log"
      ),
      later(names.name, name)
    ]
  }
  const info = readPluginInfo(reply.response)
  if (info === undefined) {
    const means = "the answer is no GetPluginInfoResponse of CSI v1"
    return [
      failed(name, "driver-answers-error", "an answer that cannot be read", means, "fix the driver"),
      later(names.name, name)
    ]
  }
  const fault = driverNameFault(info.name)
  const version = info.version === "" ? "" : `, version ${info.version}`
  const slow = reply.tookMs > callTimeoutMs
  return [
    slow
      ? failed(
          name,
          "driver-slow",
          `answered after ${seconds(reply.tookMs)}; the registrar waits for ${limit}`,
          "each attempt of the registrar ends before the answer comes",
          "raise --timeout, or look at why the driver takes so long"
        )
      : ok(name, `answered after ${seconds(reply.tookMs)}${version}`),
    fault === undefined
      ? ok(names.name, info.name)
      : failed(
          names.name,
          "illegal-name",
          fault,
          "the registrar refuses it, since it becomes a file name and a name in the API",
          "GetPluginInfo must return a CSI name; fix the driver"
        )
  ]
}

const optional = "optional: the kubelet does not call it"

const probeCheck = (reply: Reply): Check => {
  const name = names.probe
  if (reply.code === grpcCode.unimplemented) return ok(name, `Unimplemented after ${seconds(reply.tookMs)}`, optional)
  const ready = reply.code === grpcCode.ok ? readProbe(reply.response)?.ready : false
  if (ready) return ok(name, `ready, after ${seconds(reply.tookMs)}`)
  const says = reply.code === grpcCode.ok || reply.code === grpcCode.failedPrecondition
  return warning(
    name,
    says ? "driver-not-ready" : reply.code === grpcCode.deadlineExceeded ? "driver-slow" : "driver-answers-error",
    reply.code === grpcCode.ok ? `not ready, after ${seconds(reply.tookMs)}` : errorText(reply),
    says ? "the driver itself says that it is not ready" : "the driver cannot tell whether it is ready",
    "look at the driver's log"
  )
}

const capabilitiesCheck = (reply: Reply): Check => {
  const name = names.getPluginCapabilities
  if (reply.code === grpcCode.unimplemented) return ok(name, `Unimplemented after ${seconds(reply.tookMs)}`, optional)
  if (reply.code === grpcCode.ok) {
    return ok(name, `${readCapabilities(reply.response)?.count ?? "unreadable"} after ${seconds(reply.tookMs)}`)
  }
  return warning(
    name,
    reply.code === grpcCode.deadlineExceeded ? "driver-slow" : "driver-answers-error",
    errorText(reply),
    "the kubelet does not need it, others do",
    "look at the driver's log"
  )
}

const nodeInfoCheck = (reply: Reply): Check => {
  const name = names.nodeGetInfo
  if (reply.code === grpcCode.deadlineExceeded) {
    return warning(
      name,
      "driver-slow",
      errorText(reply),
      "the kubelet waits for two minutes, then it refuses the driver",
      "look at the driver's log: what does it wait for (a metadata service, an API)?"
    )
  }
  if (reply.code !== grpcCode.ok) {
    const absent = reply.code === grpcCode.unimplemented
    return failed(
      name,
      "node-info-fails",
      errorText(reply),
      "the kubelet makes this call before it accepts a driver, and refuses it then",
      absent ? "start the driver with its node service, at this socket" : "look at the driver's log"
    )
  }
  const info = readNodeInfo(reply.response)
  if (info === undefined || info.nodeId === "") {
    return failed(
      name,
      "node-info-fails",
      info === undefined ? "an answer that cannot be read" : "node_id is empty",
      "the kubelet refuses a driver without a node_id",
      "give the driver its node's name or ID; often that is a flag or a variable of its container"
    )
  }
  const told = [
    `node_id ${info.nodeId}`,
    ...(info.maxVolumes === 0 ? [] : [`max_volumes ${info.maxVolumes}`]),
    ...info.topology
  ]
  return ok(name, `${told.join(", ")}, after ${seconds(reply.tookMs)}`)
}
