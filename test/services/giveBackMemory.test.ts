/**
 * Claim: memory is given back in the first quiet moment, and in a later one only when the heap has grown since; never while there is something to do,
 * and never twice for the same growth.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"

import { giveBackMemory } from "../../src/services/giveBackMemory.ts"

const MiB = 1_024 * 1_024
const lookMs = 8_000
const quietMs = 80
const collectionMs = 70
const grownMiB = 3

/** What happens between two looks. */
const Stretch = Schema.Struct({
  cpuMs: Schema.Literals([0, quietMs - collectionMs, quietMs + 1, 5_000]),
  growthMiB: Schema.Literals([0, 1, 2, 3, 4])
})
type Stretch = typeof Stretch.Type

/** After each stretch, whether it was collected; a collection leaves 9 MiB. */
const lived = (stretches: ReadonlyArray<Stretch>) =>
  Effect.gen(function* () {
    let [heap, cpu, collections] = [12 * MiB, 200, 0]
    yield* Effect.forkScoped(
      giveBackMemory({
        heapBytes: () => heap,
        cpuMs: () => cpu,
        collect: () => {
          heap = 9 * MiB
          cpu += collectionMs
          collections++
        }
      }),
      { startImmediately: true }
    )
    const collected: Array<boolean> = []
    for (const { cpuMs, growthMiB } of stretches) {
      cpu += cpuMs
      heap += growthMiB * MiB
      const before = collections
      yield* TestClock.adjust(lookMs - 1)
      assert.strictEqual(collections, before)
      yield* TestClock.adjust(1)
      collected.push(collections > before)
    }
    return collected
  })

const idle: Stretch = { cpuMs: 0, growthMiB: 0 }
const crowd: Stretch = { cpuMs: 5_000, growthMiB: 4 }

it.effect("once after the start, and once after each crowd", () =>
  Effect.gen(function* () {
    const starting: Stretch = { cpuMs: quietMs + 1, growthMiB: 1 }
    assert.deepStrictEqual(yield* lived([starting, idle, idle, crowd, crowd, idle, idle, idle]), [
      ...[false, true, false],
      ...[false, false, true, false, false]
    ])
  })
)

it.effect.prop(
  "in any life: when it is quiet and the heap has grown, and then at once",
  { stretches: Schema.Array(Stretch) },
  ({ stretches }) =>
    Effect.gen(function* () {
      const collected = yield* lived(stretches)
      let grown = Number.POSITIVE_INFINITY
      for (const [n, { cpuMs, growthMiB }] of stretches.entries()) {
        grown += growthMiB
        const expected = cpuMs <= quietMs && grown >= grownMiB
        assert.strictEqual(collected[n], expected)
        if (expected) grown = 0
      }
    })
)
