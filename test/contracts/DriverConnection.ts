/**
 * What every DriverConnection keeps, the real one and the fake that stands in for it in the model tests. A world gives the layer, and buttons for
 * the driver at its other end.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

import { type Call, DriverConnection } from "../../src/services/driver/DriverConnection.ts"

export interface DriverWorld {
  readonly layer: Layer.Layer<DriverConnection>
  /** The driver is not there: whoever dials waits. */
  readonly away: Effect.Effect<void>
  /** From now on the driver is there and tells this name. */
  readonly tellsName: (name: string) => Effect.Effect<void>
  /** From now on it answers GetPluginInfo with an error that may pass. */
  readonly failsForNow: Effect.Effect<void>
  /** From now on it answers that it does not know the call. */
  readonly knowsNoCall: Effect.Effect<void>
  /** It goes away. */
  readonly goes: Effect.Effect<void>
}

export const suite = (name: string, makeWorld: Effect.Effect<DriverWorld, never, Scope.Scope>) =>
  describe(name, () => {
    const check = (
      claim: string,
      body: (world: DriverWorld, driver: DriverConnection["Service"]) => Effect.Effect<void, unknown, Scope.Scope>
    ) =>
      it.live(claim, () =>
        Effect.gen(function* () {
          const world = yield* makeWorld
          yield* Effect.scoped(Effect.flatMap(DriverConnection, (driver) => body(world, driver))).pipe(
            Effect.provide(world.layer)
          )
        })
      )

    check("tells the name the driver told", (world, driver) =>
      Effect.gen(function* () {
        const asked = yield* Effect.forkScoped(driver.identify(() => {}))
        yield* world.tellsName("a.example.com")
        assert.strictEqual(yield* Fiber.join(asked), "a.example.com")
      })
    )

    check("waits for a driver that is not there, says why, and sees it come", (world, driver) =>
      Effect.gen(function* () {
        const said = yield* Deferred.make<string>()
        const asked = yield* Effect.forkScoped(
          driver.identify(({ cause }) => Deferred.doneUnsafe(said, Effect.succeed(cause)))
        )
        yield* world.away
        assert.isNotEmpty(yield* Deferred.await(said))
        yield* world.tellsName("late.example.com")
        assert.strictEqual(yield* Fiber.join(asked), "late.example.com")
      })
    )

    check("fails in a way that another attempt may mend", (world, driver) =>
      Effect.gen(function* () {
        const asked = yield* Effect.forkScoped(driver.identify(() => {}))
        yield* world.failsForNow
        const error = yield* Effect.flip(Fiber.join(asked))
        assert.strictEqual(error._tag, "DriverUnavailableError")
        const again = yield* Effect.forkScoped(driver.identify(() => {}))
        yield* world.tellsName("a.example.com")
        assert.strictEqual(yield* Fiber.join(again), "a.example.com")
      })
    )

    check("fails for good when the driver does not know the call", (world, driver) =>
      Effect.gen(function* () {
        const asked = yield* Effect.forkScoped(driver.identify(() => {}))
        yield* world.knowsNoCall
        assert.strictEqual((yield* Effect.flip(Fiber.join(asked)))._tag, "DriverRejectedError")
      })
    )

    check("notices that the driver is lost, and finds another one at the same place", (world, driver) =>
      Effect.gen(function* () {
        const asked = yield* Effect.forkScoped(driver.identify(() => {}))
        yield* world.tellsName("a.example.com")
        yield* Fiber.join(asked)
        const lost = yield* Effect.forkScoped(driver.lost)
        assert.isUndefined(lost.pollUnsafe())
        yield* world.goes
        yield* Fiber.join(lost)
        const again = yield* Effect.forkScoped(driver.identify(() => {}))
        yield* world.tellsName("b.example.com")
        assert.strictEqual(yield* Fiber.join(again), "b.example.com")
      })
    )

    check("tells of each call how it ended and how long it took, until nobody wants to hear", (world, driver) =>
      Effect.gen(function* () {
        const calls: Array<Call> = []
        const stop = driver.onCall((call) => calls.push(call))
        const ask = (answer: Effect.Effect<void>) =>
          Effect.gen(function* () {
            const asked = yield* Effect.forkScoped(driver.identify(() => {}))
            yield* answer
            return yield* Fiber.await(asked)
          })

        yield* ask(world.failsForNow)
        yield* ask(world.knowsNoCall)
        yield* ask(world.tellsName("a.example.com"))
        stop()
        yield* ask(world.tellsName("b.example.com"))

        assert.deepStrictEqual(
          calls.map(({ code, name }) => [code, name]),
          [
            ["Unavailable", undefined],
            ["Unimplemented", undefined],
            ["OK", "a.example.com"]
          ]
        )
        for (const { seconds } of calls) assert.isTrue(seconds >= 0 && seconds < 10, `${seconds} s`)
      })
    )

    check("can be interrupted while it waits", (world, driver) =>
      Effect.gen(function* () {
        const asked = yield* Effect.forkScoped(driver.identify(() => {}))
        yield* world.away
        yield* Fiber.interrupt(asked)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(asked)))
      })
    )
  })
