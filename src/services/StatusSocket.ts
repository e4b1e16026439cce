/**
 * Answers one line to whoever connects to a socket under a dot-name in the registration folder: the probe mode of this very program. It takes no
 * command. The file's mode is 0600, and it lies in a folder that others cannot write: nobody else can read or squat it. (An abstract socket
 * would belong to the network namespace, which most CSI pods share with their host.) A registrar without it works all the same.
 */
import * as net from "node:net"

import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"

import { lifecycleState, readiness } from "../machine/report.ts"
import { Klog } from "./Klog.ts"
import * as lines from "./log/catalogue.ts"
import { type StatusAnswer, statusSocketPath } from "./probe/statusSocketName.ts"
import { RegistrationServer } from "./registration/RegistrationServer.ts"
import { bindAt, removeIfDead, removeIfSame } from "./registration/RegistrationSocket.ts"
import { Status } from "./Status.ts"
import { reasonOf } from "./unixSocket.ts"

const make = (folder: string) =>
  Effect.gen(function* () {
    const log = yield* Klog
    const status = yield* Status
    const registration = yield* RegistrationServer
    const answers = yield* FiberSet.make<unknown, unknown>()
    const fork = yield* FiberSet.runtime(answers)()

    const answer = Effect.gen(function* (): Effect.fn.Return<StatusAnswer> {
      const snapshot = status.snapshot()
      if (snapshot === undefined) return { state: "connecting", registered: false, reason: "the registrar is starting" }
      const state = lifecycleState(snapshot)
      const { ready, reason } = readiness(snapshot)
      if (!ready) return { state, registered: false, reason }
      return yield* Effect.match(registration.selfCheck, {
        onSuccess: () => ({ state, registered: true, reason }),
        onFailure: (error) => ({ state, registered: false, reason: error.reason })
      })
    })

    const listener = net.createServer((socket) => {
      socket.on("error", () => socket.destroy())
      socket.resume()
      fork(Effect.map(answer, (value) => socket.end(`${JSON.stringify(value)}\n`)))
    })
    yield* Effect.acquireRelease(
      Effect.gen(function* () {
        const socketPath = statusSocketPath(folder, process.pid)
        yield* removeIfDead(socketPath)
        return yield* bindAt(socketPath, 0o177, listener)
      }),
      (bound) =>
        Effect.sync(() => {
          listener.close()
          try {
            removeIfSame(bound.path, bound)
          } catch (error) {
            log.write(lines.statusSocketFailed, { err: `remove ${bound.path}: ${reasonOf(error)}`, folder })
          }
        })
    )
    listener.on("error", () => {})
  })

/** `folder` is the registration folder. Failing to open the socket is one line in the log, since the announcement will tell what is wrong with the folder. */
export const layer = (folder: string): Layer.Layer<never, never, Klog | RegistrationServer | Status> =>
  Layer.effectDiscard(
    Effect.catchCause(make(folder), (cause) =>
      Effect.flatMap(Klog, (log) =>
        Effect.sync(() => log.write(lines.statusSocketFailed, { err: reasonOf(Cause.squash(cause)), folder }))
      )
    )
  )
