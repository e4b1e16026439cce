/** A driver with buttons, and the layer that gives it to a registrar. Passes test/contracts/DriverConnection.ts, as the real one does. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { Failure } from "../../src/machine/context.ts"
import {
  type Call,
  DriverConnection,
  DriverRejectedError,
  DriverUnavailableError
} from "../../src/services/driver/DriverConnection.ts"
import type { Gate } from "./Gate.ts"

type Attempt = {
  readonly onObstacle: (obstacle: Failure) => void
  readonly answer: Deferred.Deferred<string, DriverUnavailableError | DriverRejectedError>
}

export const makeFakeDriver = (gate: Gate) => {
  let attempt: Attempt | undefined
  let loss = Deferred.makeUnsafe<void>()
  const listeners = new Set<(call: Call) => void>()
  /** Answers the attempt, as the end of a call that took no time. */
  const end = (
    code: string,
    name: string | undefined,
    answer: Effect.Effect<string, DriverUnavailableError | DriverRejectedError>
  ) => {
    const attempted = waiting()
    for (const listener of [...listeners]) listener({ code, seconds: 0, name })
    Deferred.doneUnsafe(attempted.answer, answer)
  }
  const waiting = () => {
    if (attempt === undefined) throw new Error("the driver is not being dialled")
    return attempt
  }

  const identify = (onObstacle: (obstacle: Failure) => void) =>
    gate.hold(
      Effect.suspend(() => {
        const answer = Deferred.makeUnsafe<string, DriverUnavailableError | DriverRejectedError>()
        attempt = { onObstacle, answer }
        return Deferred.await(answer)
      }),
      () => {
        attempt = undefined
      }
    )

  return {
    layer: Layer.succeed(DriverConnection, {
      identify,
      lost: Effect.suspend(() => gate.hold(Deferred.await(loss), () => {})),
      onCall: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      }
    }),
    isDialled: () => attempt !== undefined,
    block: (obstacle: Failure) => waiting().onObstacle(obstacle),
    answer: (name: string) => {
      loss = Deferred.makeUnsafe<void>()
      end("OK", name, Effect.succeed(name))
    },
    fail: (obstacle: Failure) => end("Unavailable", undefined, Effect.fail(new DriverUnavailableError({ obstacle }))),
    reject: (failure: Failure) => end("Unimplemented", undefined, Effect.fail(new DriverRejectedError({ failure }))),
    lose: () => Deferred.doneUnsafe(loss, Effect.void)
  }
}
