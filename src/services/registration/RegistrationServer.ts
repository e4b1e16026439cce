/**
 * The registration socket and the service behind it: puts the socket in place, tells when it is lost or taken over, answers the kubelet,
 * and takes the socket away again, but never one that is not ours.
 *
 * Looks at the folder and not at the entry: a watch on the entry goes blind when it is replaced. The slow poll is for events that inotify drops
 * and for a rival that dies without removing its socket.
 */
import * as fs from "node:fs"
import * as net from "node:net"

import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

import type { RegistrationStatus } from "../../../proto/generated/pluginregistration.ts"
import type { Failure } from "../../machine/context.ts"
import type { KubeletEvent, SocketEvent } from "../../machine/events.ts"
import type { Announcement } from "../../machine/registrar.ts"
import { Klog } from "../Klog.ts"
import * as lines from "../log/catalogue.ts"
import { codeOf, knock, reasonOf } from "../unixSocket.ts"
import { makeRegistrationApi, type RegistrationApi } from "./RegistrationApi.ts"
import type { Bound, OwnSocket } from "./RegistrationSocket.ts"
import {
  bind,
  bindFault,
  isDead,
  isOurs,
  look,
  placeFault,
  removeDeadDotNames,
  removeIfSame,
  socketPathOf
} from "./RegistrationSocket.ts"
import { type SelfCheckError, selfCheck } from "./selfCheck.ts"

/** A live registrar holds the socket. */
export class DisplacedError extends Data.TaggedError("DisplacedError")<{ readonly path: string }> {
  override get message() {
    return `another registrar serves ${this.path}`
  }
}

/** The socket cannot be put in place, and no retry would change that. */
export class SocketUnavailableError extends Data.TaggedError("SocketUnavailableError")<{ readonly failure: Failure }> {
  override get message() {
    return this.failure.cause
  }
}

export interface RegistrationSettings {
  /** The kubelet's plugin directory, as this process sees it. */
  readonly folder: string
  /** Where the kubelet reaches the driver: told to it byte for byte, never opened. */
  readonly endpoint: string
  /** For the GetInfo of a self-check. */
  readonly callTimeoutMs: number
}

export interface Placement {
  readonly path: string
  /** Whether a live registrar held the place. */
  readonly tookOver: boolean
}

export class RegistrationServer extends Context.Service<
  RegistrationServer,
  {
    /**
     * Serves until the scope ends; `send` hears what the kubelet does and what becomes of the socket. At the end our socket is removed, open
     * calls are answered and every connection is closed.
     */
    readonly serve: (send: (event: KubeletEvent | SocketEvent) => void) => Effect.Effect<void, never, Scope.Scope>
    /** Puts a new socket in place, and removes the one before it if there is one. While `serve` runs; waits for it. */
    readonly announce: (announcement: Announcement) => Effect.Effect<Placement, DisplacedError | SocketUnavailableError>
    /** Whether the socket in place is ours and answers. */
    readonly selfCheck: Effect.Effect<void, SelfCheckError>
  }
>()("registrar/services/registration/RegistrationServer") {
  static readonly layer = (settings: RegistrationSettings) => Layer.effect(RegistrationServer, make(settings))
}

export const supportedVersions = ["1.0.0"]
const pluginType = "CSIPlugin"

/** The kubelet stats every new name before it ignores a dot-name; one that is gone by then makes an error line in its log. */
const kubeletLookMs = 5
/** After a change in the folder: whoever replaces a socket by name removes it first, and gets this long to bind. */
const settleMs = 10
const pollMs = 5_000
/** While another registrar holds the socket: it may die without a trace in the folder. */
const rivalPollMs = 1_000
/** Without inotify (no watches left on this host). */
const unwatchedPollMs = 50

/** False when something is there already: link never replaces. */
const linkOrExists = (existing: string, wanted: string): boolean => {
  try {
    fs.linkSync(existing, wanted)
    return true
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false
    throw error
  }
}

type Hold =
  | { readonly phase: "none" }
  | { readonly phase: "holding"; readonly own: OwnSocket }
  | { readonly phase: "displaced"; readonly path: string }

const make = ({ folder, endpoint, callTimeoutMs }: RegistrationSettings) =>
  Effect.gen(function* () {
    const log = yield* Klog
    const files = yield* FileSystem.FileSystem
    const serving = Latch.makeUnsafe(false)
    const stirred = Latch.makeUnsafe(false)
    let driverName = ""
    let hold: Hold = { phase: "none" }
    let api: RegistrationApi | undefined
    let dotNamesCleaned = false

    const accept = (socket: net.Socket) => (api === undefined ? void socket.destroy() : api.accept(socket))

    const letGo = () => {
      if (hold.phase !== "holding") return
      const { own } = hold
      hold = { phase: "none" }
      try {
        removeIfSame(own.path, own)
      } catch (error) {
        log.write(lines.failedToRemoveSocket, { err: `remove ${own.path}: ${reasonOf(error)}`, socket: own.path })
      }
      own.listener.close()
    }

    const unavailable = (failure: Failure) => new SocketUnavailableError({ failure })

    const putInPlace = Effect.fnUntraced(function* (socketPath: string, bound: Bound, takeOver: boolean) {
      while (true) {
        const fault = placeFault(folder, socketPath)
        if (fault !== undefined) return yield* unavailable(fault)
        if (takeOver) return fs.renameSync(bound.dotPath, socketPath)
        if (linkOrExists(bound.dotPath, socketPath)) return fs.unlinkSync(bound.dotPath)
        const found = look(socketPath)
        if (found.kind !== "socket") continue
        if (!(yield* isDead(socketPath))) return yield* new DisplacedError({ path: socketPath })
        removeIfSame(socketPath, found)
      }
    })

    const announce = Effect.fnUntraced(function* (announcement: Announcement) {
      yield* serving.await
      driverName = announcement.driverName
      const socketPath = socketPathOf(folder, driverName)
      letGo()
      const fault = placeFault(folder, socketPath)
      if (fault !== undefined) return yield* unavailable(fault)
      if (!dotNamesCleaned) yield* removeDeadDotNames(files, folder)
      dotNamesCleaned = true
      const tookOver = look(socketPath).kind === "socket" && (yield* knock(socketPath)) === "listening"
      log.write(lines.startingServer, { socketPath })
      const listener = net.createServer(accept)
      yield* Effect.gen(function* () {
        const bound = yield* Effect.mapError(bind(folder, listener), (error) =>
          unavailable(bindFault(folder, socketPath, error))
        )
        yield* Effect.sleep(kubeletLookMs)
        yield* putInPlace(socketPath, bound, announcement.takeOver)
        listener.on("error", () => {})
        hold = { phase: "holding", own: { path: socketPath, device: bound.device, inode: bound.inode, listener } }
      }).pipe(
        Effect.catchDefect((error) => Effect.fail(unavailable(bindFault(folder, socketPath, error)))),
        Effect.onExit((exit) => Effect.sync(() => exit._tag === "Failure" && listener.close())),
        Effect.tapError((error) =>
          Effect.sync(() => {
            if (error._tag === "DisplacedError") hold = { phase: "displaced", path: socketPath }
          })
        )
      )
      log.write(lines.serverStarted, { socketPath })
      return { path: socketPath, tookOver }
    })

    const folderFault = (known: fs.Stats): Failure | undefined => {
      const stats = fs.statSync(folder, { throwIfNoEntry: false })
      if (stats !== undefined && stats.nlink > 0 && stats.ino === known.ino && stats.dev === known.dev) return undefined
      return {
        step: "announcing",
        cause: `${folder} was deleted under its mount`,
        advice: "only a restart of the container mounts it again; the kubelet may need one too"
      }
    }

    const inspect = Effect.fnUntraced(function* (known: fs.Stats, send: (event: SocketEvent) => void) {
      if (hold.phase === "none") return
      const fault = folderFault(known)
      if (fault !== undefined) {
        letGo()
        return send({ type: "socket.failed", failure: fault })
      }
      const seen = hold
      const socketPath = seen.phase === "holding" ? seen.own.path : seen.path
      const found = look(socketPath)
      if (seen.phase === "holding" && isOurs(found, seen.own)) return
      const vacant = found.kind !== "socket" || (yield* isDead(socketPath))
      if (hold !== seen) return
      if (seen.phase === "displaced") {
        if (!vacant) return
        hold = { phase: "none" }
        return send({ type: "socket.vacated" })
      }
      letGo()
      if (!vacant) hold = { phase: "displaced", path: socketPath }
      send({ type: vacant ? "socket.removed" : "socket.displaced" })
    })

    const watchFolder = Effect.fnUntraced(function* (send: (event: SocketEvent) => void) {
      const known = fs.statSync(folder, { throwIfNoEntry: false })
      if (known === undefined) return
      const watcher = yield* Effect.acquireRelease(
        Effect.sync(() => {
          try {
            const opened = fs.watch(folder, { persistent: false }, () => stirred.openUnsafe())
            opened.on("error", () => stirred.openUnsafe())
            return opened
          } catch {
            return undefined
          }
        }),
        (opened) => Effect.sync(() => opened?.close())
      )
      const rest = () => (hold.phase === "displaced" ? rivalPollMs : watcher === undefined ? unwatchedPollMs : pollMs)
      const look = Effect.gen(function* () {
        const woken = yield* Effect.timeoutOption(stirred.await, rest())
        stirred.closeUnsafe()
        if (woken._tag === "Some") yield* Effect.sleep(settleMs)
        yield* inspect(known, send)
      })
      yield* Effect.forkScoped(
        Effect.catchCause(Effect.forever(look), (cause) =>
          Effect.sync(() =>
            send({ type: "socket.failed", failure: { step: "running", cause: String(cause), advice: "" } })
          )
        )
      )
    })

    const serve = Effect.fnUntraced(function* (send: (event: KubeletEvent | SocketEvent) => void) {
      const onNotify = (status: RegistrationStatus) => {
        log.write(lines.notify, { status: statusText(status) })
        send(
          status.plugin_registered
            ? { type: "kubelet.accepted" }
            : { type: "kubelet.refused", text: status.error, spread: Math.random() * 2 - 1 }
        )
      }
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const opened = makeRegistrationApi({
            info: () => ({ type: pluginType, name: driverName, endpoint, supported_versions: supportedVersions }),
            onGetInfo: () => {
              log.write(lines.getInfo, { request: "" })
              send({ type: "kubelet.asked" })
            },
            onNotify
          })
          api = opened
          serving.openUnsafe()
          return opened
        }),
        (opened) =>
          Effect.suspend(() => {
            serving.closeUnsafe()
            letGo()
            hold = { phase: "none" }
            return opened.close
          })
      )
      yield* watchFolder(send)
    })

    return RegistrationServer.of({
      serve,
      announce,
      selfCheck: Effect.suspend(() =>
        selfCheck({
          own: hold.phase === "holding" ? hold.own : undefined,
          socketPath: socketPathOf(folder, driverName),
          driverName,
          api,
          callTimeoutMs,
          log
        })
      )
    })
  })

/** Protobuf's text form, as upstream prints a verdict since v2.15. */
const statusText = ({ plugin_registered, error }: RegistrationStatus) =>
  [
    ...(plugin_registered ? ["plugin_registered:true"] : []),
    ...(error === "" ? [] : [`error:${JSON.stringify(error)}`])
  ].join(" ")
