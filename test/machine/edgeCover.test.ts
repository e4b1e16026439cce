/**
 * Claim: the chart does what its picture says, with real effects behind its actors. Every walk of the edge cover is driven through the real
 * bridge in a world of fakes; after each press the chart is where the pure chart says it should be, and at the end nothing is left alive.
 * Together the walks take every transition there is, or the run fails; what they took is drawn into the committed pictures.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

import { registrarMachine } from "../../src/machine/registrar.ts"
import { makeWorld } from "../fakes/World.ts"
import { checkPictures } from "./pictures.ts"
import { transitionsOf } from "./transitions.ts"
import { edgeCover, mostWalks } from "./walks.ts"

const walks = edgeCover()
const hits = new Map<string, number>()

describe("every walk through the chart, on the real bridge", () => {
  for (const { title, policy, steps } of walks) {
    it.effect(title, () =>
      Effect.gen(function* () {
        const counts = yield* Effect.scoped(
          Effect.gen(function* () {
            const world = yield* makeWorld(policy)
            for (const { press, afterMs, expected } of steps) {
              yield* world.step(press, afterMs, expected.matches("stopping"))
              const reached = world.status.snapshot()
              assert.deepStrictEqual(reached?.value, expected.value, `after ${press.type}`)
              assert.deepStrictEqual(reached?.context, expected.context, `after ${press.type}`)
            }
            for (const key of world.taken) hits.set(key, (hits.get(key) ?? 0) + 1)
            if (world.status.snapshot()?.status === "done") {
              assert.deepStrictEqual(yield* world.registrar.outcome, steps.at(-1)?.expected.output)
            }
            return world.gate.counts
          })
        )
        const { acquired, released } = counts()
        assert.strictEqual(released, acquired, "something is still held")
      })
    )
  }
})

describe("the cover", () => {
  it("stays within its bound", () => assert.isAtMost(walks.length, mostWalks))

  it("takes every transition of the chart", () => {
    const missed = transitionsOf(registrarMachine)
      .map(({ key }) => key)
      .filter((key) => !hits.has(key))
    assert.deepStrictEqual(missed, [])
  })
})

describe("the committed pictures", () => {
  it("show the chart and what this run took", () => checkPictures(registrarMachine, hits))
})
