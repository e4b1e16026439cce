/**
 * The file of the registration socket: `<folder>/<driver>-reg.sock`, as the kubelet's plugin watcher wants it.
 *
 * A new socket is bound under a dot-name, which the kubelet ignores, and only a server that already answers gets the final name: the first
 * time by rename (newest wins, as upstream), later by link, which never lands on a rival's socket. Device and inode say whose a socket is;
 * whoever wants to remove one compares first, in the same turn. libuv unlinks the path a server was bound to when it closes, which by then is
 * only the dot-name.
 *
 * Everything here is synchronous except the question whether somebody listens: no event of another process can come between two steps of ours.
 */
import * as fs from "node:fs"
import type * as net from "node:net"
import * as path from "node:path"

import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"

import type { Failure } from "../../machine/context.ts"
import { codeOf } from "../codeOf.ts"
import { statusSocketName, statusSocketPath } from "../probe/statusSocketName.ts"
import { maxSocketPathBytes, pathBytes } from "../socketPath.ts"
import { isSilent, knock, reasonOf } from "../unixSocket.ts"

/** What tells one socket file from another at the same path. A number of an inode is used again as soon as the inode is free, its birth is not. */
export interface Identity {
  readonly device: number
  readonly inode: number
  readonly bornMs: number
}

/** A socket of ours that is in place. While its listener is open, its inode is not free. */
export interface OwnSocket extends Identity {
  readonly path: string
  readonly listener: net.Server
}

/** A listener that is bound, under its dot-name as yet if it is to become the registration socket. */
export interface Bound extends Identity {
  readonly path: string
}

/** What lies at a path, not following symlinks. */
export type Found =
  | { readonly kind: "nothing" }
  | ({ readonly kind: "socket" } & Identity)
  | { readonly kind: "other"; readonly what: string }

const fault = (socketPath: string, cause: string, advice: string): Failure => ({
  step: "announcing",
  cause,
  advice,
  facts: { socketPath }
})

export const socketPathOf = (folder: string, driverName: string) =>
  `${folder.replace(/\/$/, "")}/${driverName}-reg.sock`

const identityOf = ({ dev, ino, birthtimeMs }: fs.Stats): Identity => ({ device: dev, inode: ino, bornMs: birthtimeMs })

export const look = (socketPath: string): Found => {
  const stats = fs.lstatSync(socketPath, { throwIfNoEntry: false })
  if (stats === undefined) return { kind: "nothing" }
  if (stats.isSocket()) return { kind: "socket", ...identityOf(stats) }
  if (!stats.isSymbolicLink()) return { kind: "other", what: stats.isDirectory() ? "a folder" : "a file" }
  const target = fs.statSync(socketPath, { throwIfNoEntry: false })
  if (target === undefined) return { kind: "other", what: "a symlink to nothing" }
  return target.isSocket()
    ? { kind: "socket", ...identityOf(stats) }
    : { kind: "other", what: "a symlink to something that is no socket" }
}

export const isSame = (found: Found, own: Identity) =>
  found.kind === "socket" && found.device === own.device && found.inode === own.inode && found.bornMs === own.bornMs

/** Removes the file at `socketPath` if it is still that socket. The rest between look and unlink is one system call wide. */
export const removeIfSame = (socketPath: string, own: Identity): boolean => {
  try {
    if (!isSame(look(socketPath), own)) return false
    fs.unlinkSync(socketPath)
    return true
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false
    throw error
  }
}

/** Why no socket can be put there, before anything is touched; undefined when nothing speaks against it. */
export const placeFault = (folder: string, socketPath: string): Failure | undefined => {
  const bytes = pathBytes(socketPath)
  if (bytes > maxSocketPathBytes) {
    return fault(
      socketPath,
      `listen unix ${socketPath}: the path has ${bytes} bytes, a socket path has at most ${maxSocketPathBytes}`,
      "mount the kubelet's plugins_registry at a shorter path and name that in --plugin-registration-path"
    )
  }
  try {
    if (!fs.statSync(folder).isDirectory()) {
      return fault(
        socketPath,
        `listen unix ${socketPath}: ${folder} is not a directory`,
        "mount the kubelet's plugins_registry directory there"
      )
    }
    const found = look(socketPath)
    if (found.kind !== "other") return undefined
    return fault(
      socketPath,
      `file exists in socketPath ${socketPath} but it's not a socket: it is ${found.what}, and it was left alone`,
      "remove it, if nobody needs it"
    )
  } catch (error) {
    return bindFault(folder, socketPath, error)
  }
}

/** Undefined for what is not there or may not be looked at. */
export const statsOf = (file: string): fs.Stats | undefined => {
  try {
    return fs.statSync(file)
  } catch {
    return undefined
  }
}

/** A file system error while placing, with what a person needs to mend it. */
export const bindFault = (folder: string, socketPath: string, error: unknown): Failure => {
  const cause = `listen unix ${socketPath}: bind: ${reasonOf(error)}`
  switch (codeOf(error)) {
    case "ENOENT":
      return fault(
        socketPath,
        cause,
        `${folder} does not exist; mount the kubelet's plugins_registry directory there (it is never created, that would hide a missing mount)`
      )
    case "EACCES":
    case "EPERM": {
      const stats = statsOf(folder)
      const mode = stats === undefined ? "unknown" : `0${(stats.mode & 0o7777).toString(8)}`
      return fault(
        socketPath,
        `${cause} (uid ${process.getuid?.()}, ${folder} has mode ${mode} and owner ${stats?.uid ?? "unknown"})`,
        "run as root or as the folder's owner"
      )
    }
    default:
      return fault(socketPath, cause, `look at ${folder}`)
  }
}

/** At most 10 bytes, or a final path of 107 bytes could not be bound under its dot-name first. */
const dotName = /^\.csi[0-9a-z]{6}$/
const newDotName = () =>
  `.csi${Math.floor(Math.random() * 36 ** 6)
    .toString(36)
    .padStart(6, "0")}`

/** libuv tells a folder that does not exist as EACCES. */
const missingFolder = (socketPath: string): NodeJS.ErrnoException | undefined => {
  try {
    fs.statSync(path.dirname(socketPath))
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

/**
 * Binds `listener` at a path with the mode that `umask` leaves; fails with what the file system says. `listen` of a path binds within the call, so
 * the umask, which belongs to the whole process, is restored before anybody else can run; only its errors come later, as an event.
 */
export const bindAt = (
  socketPath: string,
  umask: number,
  listener: net.Server
): Effect.Effect<Bound, NodeJS.ErrnoException> =>
  Effect.callback((resume) => {
    listener.once("error", (error: NodeJS.ErrnoException) => resume(Effect.fail(missingFolder(socketPath) ?? error)))
    const inherited = process.umask(umask)
    listener.listen(socketPath)
    process.umask(inherited)
    if (!listener.listening) return
    resume(Effect.succeed({ path: socketPath, ...identityOf(fs.lstatSync(socketPath)) }))
  })

/** Binds under a fresh dot-name with mode 0700. */
export const bind = (folder: string, listener: net.Server) => bindAt(path.join(folder, newDotName()), 0o077, listener)

/** Removes what a dead registrar has left at a path; whatever answers, or is no socket, stays. */
export const removeIfDead = Effect.fnUntraced(function* (socketPath: string) {
  const found = look(socketPath)
  if (found.kind === "socket" && (yield* isDead(socketPath))) removeIfSame(socketPath, found)
})

/** Removes the dot-names of dead registrars, as far as that is allowed. A folder that cannot be read has none. */
export const removeDeadDotNames = Effect.fnUntraced(function* (files: FileSystem.FileSystem, folder: string) {
  const entries = yield* Effect.orElseSucceed(files.readDirectory(folder), () => [])
  const own = path.basename(statusSocketPath(folder, process.pid))
  const ours = entries.filter((name) => name !== own && (dotName.test(name) || statusSocketName.test(name)))
  for (const name of ours) yield* Effect.exit(removeIfDead(path.join(folder, name)))
})

/** How often, and how far apart, a socket must refuse before it counts as dead: a rival is bound for a moment before it listens. */
const deadLooks = 3
const deadLookMs = 100

/** Whether there is a socket at the path that nobody serves. Takes 0.2 s to say yes, nothing to say no; what cannot be told is no. */
export const isDead = (socketPath: string): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    for (let looks = 0; looks < deadLooks; looks++) {
      if (looks > 0) yield* Effect.sleep(deadLookMs)
      if ((yield* knock(socketPath)) !== "refused") return false
    }
    return true
  })

/** How often a process may leave an HTTP/2 client without an answer, and for how long each time, before it counts as hanging. */
const silentLooks = 5
const silentLookMs = 1_000

/** Whether a rival's socket is dead, or its process hangs. Takes 5 s to say that it hangs, nothing to say no. */
export const isAbandoned = (socketPath: string): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    for (let looks = 0; looks < silentLooks; looks++) {
      if (yield* isDead(socketPath)) return true
      if (!(yield* isSilent(socketPath, silentLookMs))) return false
    }
    return true
  })
