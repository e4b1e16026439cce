/**
 * One driver's chart, running: which effect stands behind which of its actors, and who hears its transitions. The only place that knows both the
 * chart and the services. Several may run in one process, each with its own layers.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createActor, type InspectionEvent } from "xstate"

import type { Failure, Input, Output } from "../machine/context.ts"
import type { DriverEvent, KubeletEvent, ProcessEvent, RegistrarEvent, SocketEvent } from "../machine/events.ts"
import type { Announcement } from "../machine/registrar.ts"
import { registrarMachine } from "../machine/registrar.ts"
import { stillConnectingEveryMs } from "../machine/policies.ts"
import {
  driverConnected,
  lifecycleState,
  type RegistrarSnapshot,
  reminder,
  transitionLines
} from "../machine/report.ts"
import { makeBridge } from "./Bridge.ts"
import { DriverConnection } from "./driver/DriverConnection.ts"
import { Klog } from "./Klog.ts"
import * as lines from "./log/catalogue.ts"
import { mountOf } from "./registration/mountOf.ts"
import { RegistrationServer } from "./registration/RegistrationServer.ts"
import { remind } from "./remind.ts"
import { Status } from "./Status.ts"

export interface Registrar {
  /** For signals and crashes; everything else the chart hears from its own actors. Does nothing once the chart has ended. */
  readonly send: (event: ProcessEvent) => void
  /** How the chart ended. Dies when the chart itself has a fault. */
  readonly outcome: Effect.Effect<Output>
  /** Fibers that work for this chart at this moment, timers included. */
  readonly live: Effect.Effect<number>
}

export type RegistrarServices = DriverConnection | RegistrationServer | Status | Klog

export interface RegistrarOptions extends Input {
  /** As given on the command line: for the log. */
  readonly csiAddress: string
  /** The same with its scheme. */
  readonly address: string
  /** Where the kubelet is expected to look. */
  readonly registrationFolder: string
  /** Hears everything xstate tells an inspector about this chart. */
  readonly inspect?: (event: InspectionEvent) => void
}

/** Starts the chart. The scope's end stops it, whatever state it is in, and releases what its actors hold. */
export const makeRegistrar = (
  options: RegistrarOptions
): Effect.Effect<Registrar, never, RegistrarServices | Scope.Scope> =>
  Effect.gen(function* () {
    const log = yield* Klog
    const status = yield* Status
    const bridge = yield* makeBridge<DriverConnection | RegistrationServer>((cause) =>
      actor.send({ type: "program.crashed", failure: crashOf(Cause.squash(cause)) })
    )

    const actors = {
      identify: bridge.hold<DriverEvent>((_, send) =>
        Effect.gen(function* () {
          const driver = yield* DriverConnection
          const name = yield* driver.identify(onChange((obstacle) => send({ type: "driver.awaited", obstacle })))
          send({ type: "driver.identified", name })
          return yield* Effect.never
        }).pipe(
          Effect.catchTags({
            DriverUnavailableError: ({ obstacle }) => tell(() => send({ type: "driver.unavailable", obstacle })),
            DriverRejectedError: ({ failure }) => tell(() => send({ type: "driver.rejected", failure }))
          })
        )
      ),
      watchDriver: bridge.hold<DriverEvent>((_, send) =>
        Effect.flatMap(DriverConnection, (driver) =>
          Effect.andThen(
            driver.lost,
            tell(() => send({ type: "driver.lost" }))
          )
        )
      ),
      serve: bridge.hold<KubeletEvent | SocketEvent>((_, send) =>
        Effect.flatMap(RegistrationServer, (server) => Effect.andThen(server.serve(send), Effect.never))
      ),
      announce: bridge.hold<SocketEvent, Announcement>((announcement, send) =>
        Effect.gen(function* () {
          const server = yield* RegistrationServer
          const placement = yield* server.announce(announcement)
          send({ type: "socket.placed", ...placement })
          return yield* Effect.never
        }).pipe(
          Effect.catchTags({
            DisplacedError: () => tell(() => send({ type: "socket.displaced" })),
            SocketBlockedError: ({ obstacle }) => tell(() => send({ type: "socket.blocked", obstacle })),
            SocketUnavailableError: ({ failure }) => tell(() => send({ type: "socket.failed", failure }))
          })
        )
      ),
      drain: bridge.call(
        Effect.gen(function* () {
          yield* bridge.drained
          const failure = (yield* RegistrationServer).stranded()
          if (failure !== undefined) actor.send({ type: "socket.stranded", failure })
        })
      )
    }

    const done = yield* Deferred.make<Output>()
    const narrate = status.subscribe(({ before, event, after }) => {
      // The end has its own last words, which stay the last line.
      if (log.enabled(lines.transition) && after.status === "active" && !sameValue(before, after)) {
        const [from, to] = [lifecycleState(before), lifecycleState(after)]
        log.write(lines.transition, { event: event.type, from, to, driverConnected: driverConnected(after) })
      }
      for (const line of transitionLines(before, event, after)) log.write(line, line.values)
    })
    /**
     * A step is told before what it starts begins, so that the log names causes before effects. An event that raises another one has two of them, and a
     * snapshot after the last; what begins or breaks the chart has a snapshot alone.
     */
    let stepped = false
    const inspect = (inspected: InspectionEvent) => {
      options.inspect?.(inspected)
      if (inspected.actorRef.sessionId !== inspected.rootId) return
      if (inspected.type !== "@xstate.microstep" && inspected.type !== "@xstate.snapshot") return
      const isTold = stepped && inspected.type === "@xstate.snapshot"
      stepped = inspected.type === "@xstate.microstep"
      if (!isTold) status.record(inspected.event as RegistrarEvent, inspected.snapshot as RegistrarSnapshot)
    }
    const actor = yield* Effect.acquireRelease(
      Effect.sync(() =>
        createActor(registrarMachine.provide({ actors }), {
          input: { policy: options.policy },
          clock: bridge.clock,
          inspect
        })
      ),
      (started) =>
        Effect.sync(() => {
          started.stop()
          narrate()
        })
    )
    actor.subscribe({
      next: (snapshot) => {
        if (snapshot.status === "done") Deferred.doneUnsafe(done, Effect.succeed(snapshot.output as Output))
      },
      error: (error) => Deferred.doneUnsafe(done, Effect.die(error))
    })
    log.write(lines.openingConnection, { csiAddress: options.csiAddress })
    yield* Effect.forkScoped(
      remindWhileConnecting(
        () => status.snapshot(),
        () => log.write(lines.stillConnecting, { address: options.address })
      )
    )
    yield* Effect.forkScoped(
      remind(status, (snapshot, waitedMs) => {
        const { registrationFolder } = options
        const line = reminder(snapshot, waitedMs, { registrationFolder, mount: mountOf(registrationFolder) })
        if (line !== undefined) log.write(line, line.values)
      })
    )
    actor.start()
    const send = (event: ProcessEvent) => {
      if (actor.getSnapshot().status === "active") actor.send(event)
    }
    return { send, outcome: Deferred.await(done), live: bridge.live }
  })

/** A fault of the program itself. */
export const crashOf = (error: unknown): Failure => ({
  step: "running",
  cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
  advice: "this is a fault of the registrar; please report it with these lines"
})

/** Sends, and stays: an actor that has told how it ended lives on until its state is left. */
const tell = (send: () => void): Effect.Effect<never> => Effect.andThen(Effect.sync(send), Effect.never)

const sameValue = (one: RegistrarSnapshot, other: RegistrarSnapshot) =>
  JSON.stringify(one.value) === JSON.stringify(other.value)

/** Hears an obstacle when its cause is another one than before. */
const onChange = (tellObstacle: (obstacle: Failure) => void) => {
  let last: string | undefined
  return (obstacle: Failure) => {
    if (obstacle.cause === last) return
    last = obstacle.cause
    tellObstacle(obstacle)
  }
}

const remindWhileConnecting = (snapshot: () => RegistrarSnapshot | undefined, remind: () => void) =>
  Effect.gen(function* () {
    while (true) {
      yield* Effect.sleep(stillConnectingEveryMs)
      const now = snapshot()
      if (now !== undefined && lifecycleState(now) !== "connecting") return
      remind()
    }
  })
