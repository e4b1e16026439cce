/**
 * Claim: while the kubelet is silent the log says so at growing intervals, with the folder and what to look at, and no more once it has called; whoever is
 * registered waits for nobody.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"

import { defaultPolicy } from "../../src/machine/context.ts"
import { reminder, reportLines } from "../../src/machine/report.ts"
import { makeWorld } from "../fakes/World.ts"
import type { Press } from "../machine/walks.ts"

const identified: Press = { type: "driver.identified", name: "a.example.com" }
const placed: Press = { type: "socket.placed", path: "/registration/a.example.com-reg.sock", tookOver: false }
const asked: Press = { type: "kubelet.asked" }

const makeListening = Effect.gen(function* () {
  const world = yield* makeWorld(defaultPolicy)
  for (const press of [identified, placed]) yield* world.step(press, 0, false)
  const waits = ({ message }: { readonly message: string }) =>
    world.log.written.filter((line) => line.message === message).map(({ values }) => values.waited)
  return { world, waits }
})

it.effect("a silent kubelet, after 10 s, 30 s, 1, 2, 5 min, then every 10 min", () =>
  Effect.gen(function* () {
    const { waits } = yield* makeListening

    yield* TestClock.adjust("26 minutes")

    assert.deepEqual(waits(reportLines.notCalled), ["10s", "30s", "60s", "120s", "300s", "900s", "1500s"])
  })
)

it.effect("a verdict that is open has waits of its own, and a registration has none", () =>
  Effect.gen(function* () {
    const { world, waits } = yield* makeListening
    yield* TestClock.adjust("10 seconds")
    yield* world.step(asked, 0, false)
    yield* TestClock.adjust("35 seconds")
    assert.deepEqual(waits(reportLines.notCalled), ["10s"])
    assert.deepEqual(waits(reportLines.notDecided), ["10s", "30s"])

    yield* world.step({ type: "kubelet.accepted" }, 0, false)
    const before = world.log.written.length
    yield* TestClock.adjust("1 hour")
    assert.lengthOf(world.log.written, before)
  })
)

it.effect("what to look at follows from the folder of the host that is mounted", () =>
  Effect.gen(function* () {
    const { world } = yield* makeListening
    const adviceAt = (mount: string) => reminder(world.status.snapshot()!, 10_000, { mount })?.values.advice

    assert.match(`${adviceAt("/var/lib/kubelet/plugins_registry on /dev/vda1 (ext4)")}`, /^check that the kubelet runs/)
    for (const mount of ["/var/lib/kubelet/plugins on /dev/vda1 (ext4)", ""]) {
      assert.match(`${adviceAt(mount)}`, /check which folder of the host is mounted here$/)
    }
  })
)
