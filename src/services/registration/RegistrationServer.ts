/**
 * The registration socket and the service behind it: puts the socket in place, tells when it is lost or taken over, answers the kubelet,
 * and takes the socket away again, but never one that is not ours.
 */
import * as fs from "node:fs"

import * as Context from "effect/Context"
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
import { type DisplacedError, makeHeldSocket, type Placement, type SocketUnavailableError } from "./heldSocket.ts"
import { makeRegistrationApi, type RegistrationApi } from "./RegistrationApi.ts"
import { removeDeadDotNames, socketPathOf } from "./RegistrationSocket.ts"
import { type SelfCheckError, selfCheck } from "./selfCheck.ts"

export interface RegistrationSettings {
  /** The kubelet's plugin directory, as this process sees it. */
  readonly folder: string
  /** Where the kubelet reaches the driver: told to it byte for byte, never opened. */
  readonly endpoint: string
  /** For the GetInfo of a self-check. */
  readonly callTimeoutMs: number
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
    /** What could not be removed when `serve` ended. */
    readonly stranded: () => Failure | undefined
    /** Whether the socket in place is ours and answers. */
    readonly selfCheck: Effect.Effect<void, SelfCheckError>
  }
>()("registrar/services/registration/RegistrationServer") {
  static readonly layer = (settings: RegistrationSettings) => Layer.effect(RegistrationServer, make(settings))
}

const pluginType = "CSIPlugin"
const supportedVersions = ["1.0.0"]

/** After a change in the folder: whoever replaces a socket by name removes it first, and gets this long to bind. */
const settleMs = 10
/** What dead registrars have left harms nobody; the kubelet is waited for first. */
const tidyAfterMs = 1_000
/** For events that inotify drops. */
const pollMs = 5_000
/** While another registrar holds the socket: it may die without a trace in the folder. */
const rivalPollMs = 1_000
/** Without inotify (no watches left on this host). */
const unwatchedPollMs = 50

/** A watch on the folder and not on the entry, which would go blind when the entry is replaced. Undefined when no watch can be had. */
const watch = (folder: string, stir: () => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      try {
        return fs.watch(folder, { persistent: false }, stir).on("error", stir)
      } catch {
        return undefined
      }
    }),
    (watcher) => Effect.sync(() => watcher?.close())
  )

/** Protobuf's text form, as upstream prints a verdict since v2.15. */
const statusText = ({ plugin_registered, error }: RegistrationStatus) =>
  [
    ...(plugin_registered ? ["plugin_registered:true"] : []),
    ...(error === "" ? [] : [`error:${JSON.stringify(error)}`])
  ].join(" ")

const make = ({ folder, endpoint, callTimeoutMs }: RegistrationSettings) =>
  Effect.gen(function* () {
    const log = yield* Klog
    const files = yield* FileSystem.FileSystem
    const serving = Latch.makeUnsafe(false)
    let driverName = ""
    let api: RegistrationApi | undefined
    let stranded: Failure | undefined
    const socket = makeHeldSocket({
      folder,
      accept: (connection) => (api === undefined ? connection.destroy() : api.accept(connection)),
      log
    })

    const lookAfterSocket = Effect.fnUntraced(function* (send: (event: SocketEvent) => void) {
      const known = fs.statSync(folder, { throwIfNoEntry: false })
      if (known === undefined) return
      const stirred = Latch.makeUnsafe(false)
      const watcher = yield* watch(folder, () => stirred.openUnsafe())
      const rest = () => (socket.isDisplaced() ? rivalPollMs : watcher === undefined ? unwatchedPollMs : pollMs)
      const turn = Effect.gen(function* () {
        const woken = yield* Effect.timeoutOption(stirred.await, rest())
        stirred.closeUnsafe()
        if (woken._tag === "Some") yield* Effect.sleep(settleMs)
        const event = yield* socket.inspect(known)
        if (event !== undefined) send(event)
      })
      yield* Effect.forkScoped(
        Effect.catchCause(Effect.forever(turn), (cause) =>
          Effect.sync(() =>
            send({ type: "socket.failed", failure: { step: "running", cause: String(cause), advice: "" } })
          )
        )
      )
    })

    const open = (send: (event: KubeletEvent) => void) =>
      makeRegistrationApi({
        info: () => ({ type: pluginType, name: driverName, endpoint, supported_versions: supportedVersions }),
        onGetInfo: () => {
          log.write(lines.getInfo, { request: "" })
          send({ type: "kubelet.asked" })
        },
        onNotify: (status) => {
          log.write(lines.notify, { status: statusText(status) })
          send(
            status.plugin_registered
              ? { type: "kubelet.accepted" }
              : { type: "kubelet.refused", text: status.error, spread: Math.random() * 2 - 1 }
          )
        }
      })

    const serve = Effect.fnUntraced(function* (send: (event: KubeletEvent | SocketEvent) => void) {
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          api = open(send)
          serving.openUnsafe()
          return api
        }),
        (opened) =>
          Effect.suspend(() => {
            serving.closeUnsafe()
            stranded = socket.letGo()
            return opened.close
          })
      )
      yield* Effect.forkScoped(Effect.delay(removeDeadDotNames(files, folder), tidyAfterMs))
      yield* lookAfterSocket(send)
    })

    return RegistrationServer.of({
      serve,
      stranded: () => stranded,
      announce: Effect.fnUntraced(function* (announcement: Announcement) {
        yield* serving.await
        driverName = announcement.driverName
        return yield* socket.place(announcement)
      }),
      selfCheck: Effect.suspend(() =>
        selfCheck({
          own: socket.own(),
          socketPath: socketPathOf(folder, driverName),
          driverName,
          api,
          callTimeoutMs,
          log
        })
      )
    })
  })
