/**
 * Claim: each event is told once, also one that raises another; whoever subscribes while it is told hears the next one. The last events are kept, as many as
 * promised, and with their details only once somebody wants them.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createActor } from "xstate"

import { defaultPolicy } from "../../src/machine/context.ts"
import { registrarMachine } from "../../src/machine/registrar.ts"
import { Status } from "../../src/services/Status.ts"
import { makeWorld } from "../fakes/World.ts"

const snapshot = createActor(registrarMachine, { input: { policy: defaultPolicy } }).getSnapshot()

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

it.effect("details are kept from when they are asked for, and told with each event", () =>
  Effect.gen(function* () {
    const status = yield* Status
    const told: Array<unknown> = []
    status.subscribe(({ entry }) => told.push(entry))

    status.record({ type: "kubelet.asked" }, snapshot)
    status.keepDetails()
    const event = { type: "kubelet.refused", text: "no", spread: 0 } as const
    status.record(event, snapshot)

    const [first, second] = status.history()
    assert.deepEqual(first, { at: 0, event: "kubelet.asked", before: "connecting", after: "connecting" })
    assert.deepEqual(second?.detail, { event, value: snapshot.value, context: snapshot.context })
    assert.deepEqual(told, [first, second])
  }).pipe(Effect.provide(Status.layer()))
)

it.effect("a thousand events are kept, the newest ones", () =>
  Effect.gen(function* () {
    const status = yield* Status
    status.keepDetails()
    for (let n = 0; n < 1_500; n++) status.record({ type: "kubelet.refused", text: `${n}`, spread: 0 }, snapshot)
    const texts = status.history().map(({ detail }) => detail?.event.type === "kubelet.refused" && detail.event.text)
    assert.deepEqual(
      texts,
      Array.from({ length: 1_000 }, (_, n) => `${n + 500}`)
    )
  }).pipe(Effect.provide(Status.layer()))
)
