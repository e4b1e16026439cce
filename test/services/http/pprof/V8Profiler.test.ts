/** Claim: V8 on this process, without a port: what runs and what lives is in its profiles, one CPU profile at a time, and whoever is interrupted frees it. */
import * as inspector from "node:inspector"

import { assert, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

import type { HeapNode } from "../../../../src/services/http/pprof/heapProfile.ts"
import { V8Profiler } from "../../../../src/services/http/pprof/V8Profiler.ts"

const burn = (ms: number) => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Long enough for many samples on a machine whose processors are all busy, too, where one comes each 5 ms. */
const burning = Effect.sync(() => burn(300))

it.live("a function that runs meanwhile is in the CPU profile, with the time it took", () =>
  Effect.gen(function* () {
    const profiler = yield* V8Profiler
    const { nodes, samples = [], timeDeltas = [], startTime, endTime } = yield* profiler.cpu(1_000, burning)

    // Most samples are in the clock that it asks.
    const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
    const burns = new Set(nodes.flatMap(({ id, callFrame }) => (callFrame.functionName === "burn" ? [id] : [])))
    const within = (id: number | undefined): boolean => id !== undefined && (burns.has(id) || within(parents.get(id)))
    const burnt = samples.flatMap((id, i) => (within(id) ? [timeDeltas[i] ?? 0] : []))
    assert.isAbove(burnt.length, 20)
    assert.isAtLeast(
      burnt.reduce((sum, us) => sum + us, 0),
      250_000
    )
    assert.equal(timeDeltas.length, samples.length)
    assert.isAtLeast(endTime - startTime, 300_000)
    assert.isUndefined(inspector.url())
  }).pipe(Effect.provide(V8Profiler.layer()))
)

it.live("a second one fails while the first one runs, and is had when that was interrupted", () =>
  Effect.gen(function* () {
    const profiler = yield* V8Profiler
    const begun = yield* Deferred.make<void>()
    const first = yield* Effect.forkChild(
      profiler.cpu(1_000, Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
    )
    yield* Deferred.await(begun)

    const error = yield* Effect.flip(profiler.cpu(1_000, Effect.void))
    assert.equal(error.message, "Could not enable CPU profiling: cpu profiling already in use")
    yield* Fiber.interrupt(first)

    assert.isAbove((yield* profiler.cpu(1_000, burning)).samples?.length ?? 0, 20)
  }).pipe(Effect.provide(V8Profiler.layer()))
)

it.live("of two that begin at once, one is had", () =>
  Effect.gen(function* () {
    const profiler = yield* V8Profiler
    const taken = Effect.result(profiler.cpu(1_000, burning))
    const outcomes = yield* Effect.all([taken, taken], { concurrency: "unbounded" })
    assert.deepStrictEqual(outcomes.map(({ _tag }) => _tag).sort(), ["Failure", "Success"])
  }).pipe(Effect.provide(V8Profiler.layer()))
)

/** What was allocated by functions of this name, and by what they called. */
const sizeBelow = (node: HeapNode, name: string, within = false): number => {
  const counts = within || node.callFrame.functionName === name
  return node.children.reduce((sum, child) => sum + sizeBelow(child, name, counts), counts ? node.selfSize : 0)
}

it.live("what a function has allocated is in the heap profile while it lives, and no longer", () =>
  Effect.gen(function* () {
    const profiler = yield* V8Profiler
    const hoard = () => Array.from({ length: 20_000 }, (_, i) => ({ i, text: `${i}` }))
    let hoarded: unknown = hoard()

    const full = yield* profiler.heap(true)
    assert.isAbove(sizeBelow(full.head, "hoard"), 200_000)
    assert.isAbove(full.samples.length, 5)

    hoarded = undefined
    assert.isUndefined(hoarded)
    assert.isBelow(sizeBelow((yield* profiler.heap(true)).head, "hoard"), 100_000)
    assert.isUndefined(inspector.url())
  }).pipe(Effect.provide(V8Profiler.layer()))
)

it.live("a scope may end right after garbage was collected, and while it is", () =>
  Effect.gen(function* () {
    const collect = Effect.flatMap(V8Profiler, (profiler) => profiler.heap(true))
    yield* Effect.provide(collect, V8Profiler.layer())
    yield* Effect.provide(Effect.andThen(Effect.forkChild(collect), Effect.yieldNow), V8Profiler.layer())
    yield* Effect.provide(collect, V8Profiler.layer())
  })
)
