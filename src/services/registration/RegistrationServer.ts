/**
 * The registration socket and the service behind it: puts the socket in place, tells when it is lost or taken over, answers the kubelet,
 * and takes the socket away again, but never one that is not ours.
 */
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
import { shortened } from "../../machine/texts.ts"
import { Klog } from "../Klog.ts"
import * as lines from "../log/catalogue.ts"
import {
  type DisplacedError,
  makeHeldSocket,
  type Placement,
  type SocketBlockedError,
  type SocketUnavailableError
} from "./heldSocket.ts"
import { makeRegistrationApi, type RegistrationApi } from "./RegistrationApi.ts"
import { removeDeadDotNames, socketPathOf, statsOf } from "./RegistrationSocket.ts"
import { makeSelfCheck, type SelfCheckError } from "./selfCheck.ts"
import { pollMs, watchFolder } from "./watchFolder.ts"

/** Of a refusal, which is logged, remembered and told again; gRPC lets pass 4 MiB. */
const longestRefusal = 16_384

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
    readonly announce: (
      announcement: Announcement
    ) => Effect.Effect<Placement, DisplacedError | SocketBlockedError | SocketUnavailableError>
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

/** What dead registrars have left harms nobody; the kubelet is waited for first. */
const tidyAfterMs = 1_000
/** While another registrar holds the socket. */
const rivalPollMs = 1_000

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
      const known = statsOf(folder)
      if (known === undefined) return
      const change = yield* watchFolder(folder)
      const turn = Effect.gen(function* () {
        yield* change(socket.isDisplaced() ? rivalPollMs : pollMs)
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
        onNotify: ({ plugin_registered, error }) => {
          const text = shortened(error, longestRefusal)
          log.write(lines.notify, { status: statusText({ plugin_registered, error: text }) })
          send(
            plugin_registered
              ? { type: "kubelet.accepted" }
              : { type: "kubelet.refused", text, spread: Math.random() * 2 - 1 }
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
            return Effect.andThen(
              opened.close,
              Effect.sync(() => {
                api = undefined
              })
            )
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
      selfCheck: makeSelfCheck({
        own: socket.own,
        path: () => socketPathOf(folder, driverName),
        driverName: () => driverName,
        api: () => api,
        callTimeoutMs,
        log
      })
    })
  })
