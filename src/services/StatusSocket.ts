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
import { shortLine } from "../machine/texts.ts"
import { Klog } from "./Klog.ts"
import * as lines from "./log/catalogue.ts"
import { type StatusAnswer, statusSocketPath } from "./probe/statusSocketName.ts"
import { RegistrationServer } from "./registration/RegistrationServer.ts"
import { bindAt, isSame, look, removeIfDead, removeIfSame } from "./registration/RegistrationSocket.ts"
import { pollMs, watchFolder } from "./registration/watchFolder.ts"
import { Status } from "./Status.ts"
import { reasonOf } from "./unixSocket.ts"

/** Of a refusal's text: whoever asks reads no more than 10,000 bytes in all, `reason` included. */
const longestText = 1_000
/** Between two sockets, or two attempts. */
const restMs = 500

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
      const verdict = status.lastVerdict()
      const known = {
        state,
        since: status.since(),
        lastGetInfo: status.lastGetInfo(),
        lastVerdict: verdict && { ...verdict, text: shortLine(verdict.text, longestText) }
      }
      if (!ready) return { ...known, registered: false, reason }
      return yield* Effect.match(registration.selfCheck, {
        onSuccess: () => ({ ...known, registered: true, reason }),
        onFailure: (error) => ({ ...known, registered: false, reason: shortLine(error.reason, longestText) })
      })
    })

    const accept = (socket: net.Socket) => {
      socket.on("error", () => socket.destroy())
      socket.resume()
      fork(Effect.map(answer, (value) => socket.end(`${JSON.stringify(value)}\n`)))
    }
    const socketPath = statusSocketPath(folder, process.pid)

    /** In place until the scope ends, or until somebody has removed it. */
    const inPlace = Effect.gen(function* () {
      // Before it is bound: what is removed at once is noticed too.
      const change = yield* watchFolder(folder)
      const listener = net.createServer(accept)
      const bound = yield* Effect.acquireRelease(
        Effect.andThen(removeIfDead(socketPath), bindAt(socketPath, 0o177, listener)),
        (own) =>
          Effect.sync(() => {
            try {
              removeIfSame(own.path, own)
            } catch (error) {
              log.write(lines.statusSocketFailed, { err: `remove ${own.path}: ${reasonOf(error)}`, folder })
            }
            listener.close()
          })
      )
      listener.on("error", () => {})
      do yield* change(pollMs)
      while (isSame(look(socketPath), bound))
    })

    const held = Effect.catchCause(Effect.scoped(inPlace), (cause) =>
      Effect.sync(() => log.write(lines.statusSocketFailed, { err: reasonOf(Cause.squash(cause)), folder }))
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(held, Effect.sleep(restMs))), { startImmediately: true })
  })

/** `folder` is the registration folder. Should the socket fail, that is a line at `--v=2`: the announcement tells what is wrong with the folder. */
export const layer = (folder: string): Layer.Layer<never, never, Klog | RegistrationServer | Status> =>
  Layer.effectDiscard(make(folder))
