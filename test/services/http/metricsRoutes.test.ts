/**
 * Claim: a scrape tells where the chart stands and what has happened to it, in families that are all defined; counters never go back, whatever happens; and
 * to be scraped changes nothing.
 */
import { Socket } from "node:net"

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"

import { defaultPolicy, type Failure } from "../../../src/machine/context.ts"
import { driverConnected, lifecycleState } from "../../../src/machine/report.ts"
import { metricsRoutes } from "../../../src/services/http/metricsRoutes.ts"
import { type Definition, definitions, states } from "../../../src/services/metrics/definitions.ts"
import { makeWorld } from "../../fakes/World.ts"
import { possiblePresses, type Press } from "../../machine/walks.ts"
import { parseExposition, type ParsedFamily, seriesOf } from "../metrics/parseExposition.ts"

const request = { method: "GET", target: { raw: "/m", path: "/m", query: "" }, headers: {} }

const makeScraped = Effect.fnUntraced(function* (policy = defaultPolicy) {
  const world = yield* makeWorld(policy)
  const routes = yield* Effect.provideContext(metricsRoutes("/m"), world.services)
  const scrape = Effect.gen(function* () {
    const answer = yield* routes.get("/m")!(request, new Socket())
    assert.deepEqual(
      [answer.status, answer.headers],
      [200, [["Content-Type", "text/plain; version=0.0.4; charset=utf-8"]]]
    )
    return parseExposition(Buffer.from(answer.body, "latin1").toString("utf8"))
  })
  const press = (...presses: ReadonlyArray<Press>) => Effect.forEach(presses, (each) => world.step(each, 0, false))
  return { world, scrape, press }
})

/** Values by series, such as `state{registered}`; own families without their prefix. */
const valuesOf = (families: ReadonlyArray<ParsedFamily>): Readonly<Record<string, number>> =>
  Object.fromEntries(
    families.flatMap(({ samples }) =>
      samples.map(({ name, labels, value }) => {
        const short = name.replace("csi_node_driver_registrar_", "")
        const words = Object.values(labels)
        return [words.length === 0 ? short : `${short}{${words.join(",")}}`, value]
      })
    )
  )

const failure = (cause: string): Failure => ({ step: "connecting", cause, advice: "" })
const name = "a.example.com"
const identified: Press = { type: "driver.identified", name }
const placed: Press = { type: "socket.placed", path: "/registration/x-reg.sock", tookOver: false }
const refused: Press = { type: "kubelet.refused", text: "not today", spread: 0 }

describe("the page", () => {
  it.effect("of a registrar that has just started has all states, and no time of what has not been", () =>
    Effect.gen(function* () {
      const { scrape } = yield* makeScraped()

      const families = yield* scrape

      const values = valuesOf(families)
      for (const state of states) assert.equal(values[`state{${state}}`], state === "connecting" ? 1 : 0, state)
      assert.deepInclude(values, {
        driver_connected: 0,
        driver_reconnects_total: 0,
        "verdicts_total{accepted}": 0,
        "verdicts_total{refused}": 0,
        "socket_recreations_total{removed}": 0,
        "events_total{driver.identified}": 0
      })
      const names = families.map((family) => family.name)
      for (const { name } of [definitions.lastGetInfo, definitions.lastVerdict, definitions.operations]) {
        assert.notInclude(names, name)
      }
    })
  )

  it.effect("of a life tells each thing that happened, once", () =>
    Effect.gen(function* () {
      const { scrape, press, world } = yield* makeScraped({ ...defaultPolicy, reannounceOnDriverRestart: true })
      yield* press({ type: "driver.unavailable", obstacle: failure("not yet") })
      yield* TestClock.adjust(200)
      yield* press(identified, placed, { type: "kubelet.asked" })
      yield* TestClock.adjust(1_500)
      yield* press({ type: "kubelet.accepted" })
      yield* TestClock.adjust(2_500)

      const registered = yield* scrape
      assert.deepInclude(valuesOf(registered), {
        "state{registered}": 1,
        state_age_seconds: 2.5,
        driver_connected: 1,
        last_get_info_timestamp_seconds: 0.2,
        last_verdict_timestamp_seconds: 1.7,
        "verdicts_total{accepted}": 1,
        "verdicts_total{refused}": 0,
        "events_total{driver.unavailable}": 1,
        "events_total{after.dialRest}": 1,
        "events_total{driver.identified}": 1,
        "events_total{socket.placed}": 1,
        "csi_sidecar_operations_seconds_count{unknown-driver,/csi.v1.Identity/GetPluginInfo,Unavailable}": 1,
        [`csi_sidecar_operations_seconds_bucket{${name},/csi.v1.Identity/GetPluginInfo,OK,0.1}`]: 1,
        [`csi_sidecar_operations_seconds_count{${name},/csi.v1.Identity/GetPluginInfo,OK}`]: 1
      })

      yield* press({ type: "driver.lost" })
      assert.equal(valuesOf(yield* scrape).driver_connected, 0)
      yield* TestClock.adjust(60_000)
      yield* press({ type: "driver.rejected", failure: failure("unimplemented") })
      yield* TestClock.adjust(60_000)
      yield* press(identified, placed, { type: "socket.removed" })
      yield* TestClock.adjust(60_000)
      yield* press(placed, { type: "kubelet.asked" }, refused)
      yield* TestClock.adjust(60_000)
      yield* press(placed, { type: "socket.displaced" }, { type: "socket.vacated" }, placed)

      assert.deepInclude(valuesOf(yield* scrape), {
        "state{listening}": 1,
        driver_connected: 1,
        driver_reconnects_total: 1,
        "verdicts_total{accepted}": 1,
        "verdicts_total{refused}": 1,
        "events_total{driver.identified}": 2,
        "events_total{driver.restarted}": 1,
        "events_total{socket.placed}": 5,
        "socket_recreations_total{driver_restarted}": 1,
        "socket_recreations_total{removed}": 1,
        "socket_recreations_total{refused}": 1,
        "socket_recreations_total{vacated}": 1,
        "socket_recreations_total{driver_renamed}": 0,
        "socket_recreations_total{undecided}": 0,
        [`csi_sidecar_operations_seconds_count{${name},/csi.v1.Identity/GetPluginInfo,Unimplemented}`]: 1,
        [`csi_sidecar_operations_seconds_count{${name},/csi.v1.Identity/GetPluginInfo,OK}`]: 2
      })
      assert.equal(lifecycleState(world.status.snapshot()!), "listening")
    })
  )

  it.effect("holds defined families only, with their type, help and labels, and in the end all of them", () =>
    Effect.gen(function* () {
      const { scrape, press } = yield* makeScraped()
      yield* press(identified, placed, { type: "kubelet.asked" }, { type: "kubelet.accepted" })

      const families = yield* scrape

      assert.deepEqual(
        families.map(({ name, help, type }) => ({ name, help, type })),
        Object.values<Definition>(definitions).map(({ name, help, type }) => ({ name, help, type }))
      )
      for (const { name, samples } of families) {
        const { labels } = Object.values<Definition>(definitions).find((definition) => definition.name === name)!
        for (const sample of samples) {
          assert.deepEqual(
            Object.keys(sample.labels).filter((label) => label !== "le"),
            [...labels]
          )
        }
      }
    })
  )

  it.effect("does not grow with the names that a driver tells", () =>
    Effect.gen(function* () {
      const { scrape, press } = yield* makeScraped()
      const tells = (index: number) =>
        Effect.gen(function* () {
          yield* press({ type: "driver.identified", name: `d${index}.example.com` }, { type: "driver.lost" })
          yield* TestClock.adjust(60_000)
        })
      for (let index = 0; index < 150; index++) yield* tells(index)

      const values = Object.entries(valuesOf(yield* scrape))
      const counts = values.filter(([series]) => series.startsWith("csi_sidecar_operations_seconds_count"))
      assert.isAtMost(counts.length, 101)
      assert.equal(
        counts.reduce((sum, [, value]) => sum + value, 0),
        150
      )
    })
  )
})

const Move = Schema.Struct({
  wait: Schema.Literals([0, 1, 200, 1_000, 2_000, 60_000, 150_000, 300_001]),
  pick: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999 }))
})
const Life = Schema.Struct({
  reannounce: Schema.Boolean,
  moves: Schema.Array(Move).check(Schema.isMaxLength(25))
})

const isCount = ({ type }: ParsedFamily, sample: string) =>
  type === "counter" || (type === "histogram" && /_(?:bucket|count|sum)\[/.test(sample))

/** Series of what only grows. */
const countsOf = (families: ReadonlyArray<ParsedFamily>) =>
  new Map(
    families.flatMap((family) =>
      family.samples.flatMap((sample) => {
        const series = seriesOf(sample)
        return isCount(family, series) ? [[series, sample.value] as const] : []
      })
    )
  )

const walk = (life: typeof Life.Type) =>
  Effect.gen(function* () {
    const { world, scrape } = yield* makeScraped({ ...defaultPolicy, reannounceOnDriverRestart: life.reannounce })
    let counts = countsOf(yield* scrape)
    for (const { wait, pick } of life.moves) {
      yield* TestClock.adjust(wait)
      const snapshot = world.status.snapshot()
      if (snapshot === undefined || snapshot.status !== "active") break
      const possible = possiblePresses(snapshot)
      const press = possible[pick % Math.max(1, possible.length)]
      if (press !== undefined) yield* world.step(press, 0, false)

      const before = world.status.snapshot()
      const history = world.status.history().length
      const families = yield* scrape
      assert.strictEqual(world.status.snapshot(), before)
      assert.equal(world.status.history().length, history)

      const values = valuesOf(families)
      const active = states.filter((state) => values[`state{${state}}`] === 1)
      assert.deepEqual(active, [lifecycleState(before!)])
      assert.equal(values.driver_connected, driverConnected(before!) ? 1 : 0)
      const now = countsOf(families)
      for (const [series, value] of counts) assert.isAtLeast(now.get(series) ?? -1, value, series)
      counts = now
    }
  })

describe("in a random world", () => {
  it.effect.prop(
    "counters never go back, one state is active, and a scrape changes nothing",
    { life: Life },
    ({ life }) => Effect.scoped(walk(life)),
    { arbitrary: { runs: 100 } }
  )
})
