/** A driver with buttons, and the layer that gives it to a registrar. Passes test/contracts/DriverConnection.ts, as the real one does. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { Failure } from "../../src/machine/context.ts"
import {
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
      lost: Effect.suspend(() => gate.hold(Deferred.await(loss), () => {}))
    }),
    isDialled: () => attempt !== undefined,
    block: (obstacle: Failure) => waiting().onObstacle(obstacle),
    answer: (name: string) => {
      loss = Deferred.makeUnsafe<void>()
      Deferred.doneUnsafe(waiting().answer, Effect.succeed(name))
    },
    fail: (obstacle: Failure) =>
      Deferred.doneUnsafe(waiting().answer, Effect.fail(new DriverUnavailableError({ obstacle }))),
    reject: (failure: Failure) =>
      Deferred.doneUnsafe(waiting().answer, Effect.fail(new DriverRejectedError({ failure }))),
    lose: () => Deferred.doneUnsafe(loss, Effect.void)
  }
}
