/** Claim: memory is given back once, when the registrar has been registered for a second, and not before; nothing that comes later has it done again. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"

import { defaultPolicy } from "../../src/machine/context.ts"
import { giveBackMemory } from "../../src/services/giveBackMemory.ts"
import { makeWorld } from "../fakes/World.ts"
import type { Press } from "../machine/walks.ts"

const announced: ReadonlyArray<Press> = [
  { type: "driver.identified", name: "a.example.com" },
  { type: "socket.placed", path: "/registration/a.example.com-reg.sock", tookOver: false },
  { type: "kubelet.asked" }
]
const refused: Press = { type: "kubelet.refused", text: "not today", spread: 0 }
const accepted: Press = { type: "kubelet.accepted" }
const removed: Press = { type: "socket.removed" }

const world = Effect.gen(function* () {
  const { status, step } = yield* makeWorld(defaultPolicy)
  let collections = 0
  yield* Effect.forkScoped(giveBackMemory(status, () => collections++))
  yield* TestClock.adjust(0)
  const happens = (...presses: ReadonlyArray<Press>) =>
    Effect.forEach(presses, (press) => step(press, 0, false), { discard: true })
  return { happens, collections: () => collections }
})

describe("memory is given back", () => {
  it.effect("never, while no kubelet has said yes", () =>
    Effect.gen(function* () {
      const { happens, collections } = yield* world
      yield* happens(...announced, refused)
      yield* TestClock.adjust("1 hour")

      assert.equal(collections(), 0)
    })
  )

  it.effect("not while it has something better to do: it is registered for a second first", () =>
    Effect.gen(function* () {
      const { happens, collections } = yield* world
      yield* happens(...announced, accepted)
      yield* TestClock.adjust(999)
      yield* happens(removed)
      yield* TestClock.adjust("1 hour")
      assert.equal(collections(), 0)

      yield* happens(...announced.slice(1), accepted)
      yield* TestClock.adjust(1_000)
      assert.equal(collections(), 1)
    })
  )

  it.effect("a second after it has, once for the whole life", () =>
    Effect.gen(function* () {
      const { happens, collections } = yield* world
      yield* happens(...announced, accepted)
      yield* TestClock.adjust(999)
      assert.equal(collections(), 0)
      yield* TestClock.adjust(1)
      assert.equal(collections(), 1)

      yield* happens(removed, ...announced.slice(1), accepted)
      yield* TestClock.adjust("1 hour")
      assert.equal(collections(), 1)
    })
  )
})
