/** Claim: each event is told once, also one that raises another; whoever subscribes while it is told hears the next one. */
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

it.effect("an event that raises another one is one entry, and so is the other", () =>
  Effect.gen(function* () {
    const { status, step } = yield* makeWorld({ ...defaultPolicy, reannounceOnDriverRestart: true })
    const told: Array<string> = []
    status.subscribe(({ event }) => told.push(event.type))
    const identified = { type: "driver.identified", name: "a.example.com" } as const
    const placed = { type: "socket.placed", path: "/registration/a.example.com-reg.sock", tookOver: false } as const
    for (const press of [identified, placed, { type: "driver.lost" }, identified] as const) yield* step(press, 0, false)

    const events = ["driver.identified", "socket.placed", "driver.lost", "driver.identified", "driver.restarted"]
    assert.deepStrictEqual(told, events)
    assert.deepStrictEqual(
      status.history().map(({ event }) => event),
      ["xstate.init", ...events]
    )
  })
)
