/** What is right and wrong with the registration folder, from what was found there and what the registrar knows. Pure. */
import { hostFolderText } from "../registration/mountOf.ts"
import { type FolderFacts, registrationName, type SocketFacts } from "./folderFacts.ts"
import type { RegistrarFacts } from "./registrarFacts.ts"
import { type Check, failed, ok, unknown, warning } from "./report.ts"
import { ownerText } from "./texts.ts"

const names = {
  folder: "registration-folder",
  host: "folder-on-host",
  sockets: "registration-sockets"
}

const mountAdvice =
  "mount the kubelet's plugins_registry there as a hostPath of type Directory, or name its place in --plugin-registration-path"

/** `driverName` is undefined while the driver does not tell it. */
export const folderChecks = (
  facts: FolderFacts | undefined,
  registrar: RegistrarFacts,
  driverName: string | undefined
): ReadonlyArray<Check> => {
  if (facts === undefined) return Object.values(names).map((name) => unknown(name, "no answer in time"))
  return [folderCheck(facts), hostCheck(facts, registrar), socketsCheck(facts, registrar, driverName)]
}

const folderCheck = ({ folder, file }: FolderFacts): Check => {
  const name = names.folder
  switch (file.kind) {
    case "hangs":
      return failed(
        name,
        "file-system-hangs",
        `${folder}: no answer from the file system`,
        "no registration socket can be made",
        "look at the mount on the node"
      )
    case "missing":
      return failed(
        name,
        "folder-missing",
        `${folder} does not exist`,
        "there is no place for the registration socket; the registrar never makes one, since that would hide a missing mount",
        mountAdvice
      )
    case "error":
      return failed(
        name,
        file.code === "EACCES" ? "folder-not-writable" : "folder-missing",
        `${folder}: ${file.code}`,
        "there is no place for the registration socket",
        file.code === "EACCES" ? "run as root or as the folder's owner" : mountAdvice
      )
    case "there":
      if (file.type !== "folder") {
        return failed(
          name,
          "not-a-folder",
          `${folder} is no folder`,
          "the registration socket lies in a folder",
          mountAdvice
        )
      }
      return file.writable
        ? ok(name, `${folder}, ${ownerText(file)}, writable`)
        : failed(
            name,
            "folder-not-writable",
            `${folder}, ${ownerText(file)}, not writable for uid ${process.getuid?.()}`,
            "the registration socket cannot be made",
            "run as root or as the folder's owner, and mount it without readOnly"
          )
  }
}

const kubeletsName = "plugins_registry"

const hostCheck = ({ file, host }: FolderFacts, registrar: RegistrarFacts): Check => {
  const name = names.host
  if (file.kind !== "there") return unknown(name, `not looked at, since ${names.folder} is not ok`)
  if (host === undefined) return unknown(name, "/proc/self/mountinfo does not tell")
  const found = hostFolderText(host)
  if (host.deleted) {
    return failed(
      name,
      "folder-deleted",
      found,
      "the host has removed the folder that is mounted here; the kubelet does not see this one",
      "restart the pod; the kubelet may need a restart too, if its folder was made anew under it"
    )
  }
  if (registrar.kind === "answered" && registrar.answer.lastGetInfo !== undefined) {
    return ok(name, found, "the kubelet has called here, so it is the kubelet's")
  }
  return host.path.split("/").at(-1) === kubeletsName
    ? ok(name, found, "if the kubelet's --root-dir is the folder above, it is the kubelet's")
    : failed(
        name,
        "kubelet-not-watching",
        found,
        `the kubelet watches ${kubeletsName} in its root folder (/var/lib/kubelet as a rule), and this is another one: it does not see the registration socket`,
        `let the hostPath behind --plugin-registration-path be the kubelet's ${kubeletsName}; where the kubelet has another --root-dir, the one below that`
      )
}

const socketsCheck = (
  { sockets, file }: FolderFacts,
  registrar: RegistrarFacts,
  driverName: string | undefined
): Check => {
  const name = names.sockets
  if (sockets === undefined || file.kind !== "there") {
    return unknown(
      name,
      `not looked at, since ${file.kind === "there" ? "the folder cannot be read" : `${names.folder} is not ok`}`
    )
  }
  const own = (socket: SocketFacts) => driverName !== undefined && socket.driverName === driverName
  const isPlace = ({ name }: SocketFacts) => registrationName.exec(name)?.[1] === driverName
  const found = sockets.length === 0 ? "no sockets" : sockets.map((socket) => describe(socket)).join(", ")

  const rival = sockets.find((socket) => own(socket) && !isPlace(socket))
  const place = sockets.find((socket) => own(socket) && isPlace(socket))
  const displaced = registrar.kind === "answered" && registrar.answer.state === "displaced"
  const alien = place !== undefined && !isDead(place) && registrar.kind === "notFound" && registrar.looked
  if (rival !== undefined || displaced || alien) {
    return failed(
      name,
      "name-taken",
      found,
      `another registrar owns the name${driverName === undefined ? "" : ` ${driverName}`}: ${
        rival === undefined ? "it serves the socket that ours would have" : `it serves ${rival.name}`
      }`,
      "look for a second pod of this driver on the node (an update with surge, a second DaemonSet, another release); ours registers by itself when the other has gone"
    )
  }
  const dead = sockets.filter(isDead)
  if (dead.length > 0) {
    return warning(
      name,
      "stale-sockets",
      found,
      `nobody listens on ${listed(dead)}: the kubelet dials each again and again, and the driver that left it is not registered`,
      "if their drivers do not run on this node any more, remove these files from the kubelet's folder"
    )
  }
  const silent = sockets.filter(({ greeting }) => greeting.kind === "silent")
  if (silent.length > 0) {
    return warning(
      name,
      "silent-sockets",
      found,
      `whoever listens on ${listed(silent)} does not answer: the kubelet waits for each in vain`,
      "restart the pods that they belong to"
    )
  }
  return ok(name, found)
}

const isDead = ({ greeting }: SocketFacts) => greeting.kind === "noConnection" && greeting.code === "ECONNREFUSED"

const listed = (sockets: ReadonlyArray<SocketFacts>) => sockets.map(({ name }) => name).join(", ")

const describe = ({ name, greeting }: SocketFacts): string => {
  switch (greeting.kind) {
    case "http2":
      return `${name} answers`
    case "silent":
      return `${name} is silent`
    case "noConnection":
      return `${name} ${greeting.code === "ECONNREFUSED" ? "is stale" : `cannot be connected to (${greeting.code})`}`
    default:
      return `${name} is no gRPC server`
  }
}
