/** Claim: whoever subscribes while an event is told hears the next one, and not this one again. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

import { defaultPolicy } from "../../src/machine/context.ts"
import { makeWorld } from "../fakes/World.ts"

it.effect("a listener that is replaced while it is told hears each event once", () =>
  Effect.gen(function* () {
    const { status, step } = yield* makeWorld(defaultPolicy)
    const heard: Array<string> = []
    const listen = () => {
      const stop = status.subscribe(({ event }) => {
        stop()
        heard.push(event.type)
        if (heard.length < 10) listen()
      })
    }
    listen()
    const told: Array<string> = []
    status.subscribe(({ event }) => told.push(event.type))
    yield* step({ type: "driver.identified", name: "a.example.com" }, 0, false)
    yield* step({ type: "kubelet.asked" }, 0, false)

    assert.isNotEmpty(told)
    assert.deepStrictEqual(heard, told)
  })
)
