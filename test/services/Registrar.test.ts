/**
 * Claim: whatever driver, kubelet, folder, clock and signals do, in whatever order, a registrar that is asked to stop ends once, within its grace, with
 * one exit code, and has released all it acquired; one that is torn down without being asked has too.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"

import { defaultPolicy } from "../../src/machine/context.ts"
import { limits } from "../../src/machine/policies.ts"
import { lifecycleState } from "../../src/machine/report.ts"
import { makeWorld } from "../fakes/World.ts"
import { possiblePresses } from "../machine/walks.ts"

/** Biased to the edges of the chart's delays: an even spread would miss what is off by one. */
const waits = [
  0, 1, 199, 200, 201, 799, 1_000, 1_200, 2_000, 30_000, 60_000, 150_000, 299_999, 300_000, 300_001
] as const

/** A wait and then a press, picked among those that are possible when it comes. */
const Move = Schema.Struct({
  wait: Schema.Literals(waits),
  pick: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999 }))
})
const Life = Schema.Struct({
  attempts: Schema.Literals([0, 1, 2, 10]),
  reannounce: Schema.Boolean,
  moves: Schema.Array(Move).check(Schema.isMaxLength(25)),
  asked: Schema.Boolean
})

const live = (life: typeof Life.Type) =>
  Effect.gen(function* () {
    const world = yield* makeWorld({
      ...defaultPolicy,
      registrationAttempts: life.attempts,
      reannounceOnDriverRestart: life.reannounce
    })
    for (const { wait, pick } of life.moves) {
      yield* TestClock.adjust(wait)
      const snapshot = world.status.snapshot()
      if (snapshot === undefined || snapshot.status !== "active") break
      const possible = possiblePresses(snapshot)
      const press = possible[pick % Math.max(1, possible.length)]
      if (press !== undefined) yield* world.step(press, 0, false)
    }
    if (life.asked) {
      world.registrar.send({ type: "stop.requested", signal: "SIGTERM" })
      yield* TestClock.adjust(limits.graceMs)
      const { exitCode, failure } = yield* world.registrar.outcome
      assert.strictEqual(exitCode === 1, failure !== undefined && exitCode !== 2)
      assert.strictEqual(yield* world.registrar.live, 0)
      assert.include(["stopped", "failed"], lifecycleState(world.status.snapshot() as never))
    }
    return world.gate.counts
  })

describe("a registrar in a random world", () => {
  it.effect.prop(
    "ends once and releases all it acquired",
    { life: Life },
    ({ life }) =>
      Effect.gen(function* () {
        const { acquired, released } = (yield* Effect.scoped(live(life)))()
        assert.strictEqual(released, acquired)
      }),
    { arbitrary: { runs: 500 } }
  )
})
