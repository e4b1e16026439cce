/**
 * Claim: events go to every client in order and once; a client that does not read is hung up on, and the others notice nothing; one too many is sent away;
 * and while nobody is connected, nobody listens to the chart.
 */
import { once } from "node:events"
import { setImmediate } from "node:timers/promises"

import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createActor } from "xstate"

import { defaultPolicy } from "../../../src/machine/context.ts"
import { registrarMachine } from "../../../src/machine/registrar.ts"
import * as HttpServer from "../../../src/services/http/HttpServer.ts"
import { type Limits, makeInspector } from "../../../src/services/inspector/Inspector.ts"
import { Klog } from "../../../src/services/Klog.ts"
import { Status } from "../../../src/services/Status.ts"
import { EventStream } from "../../e2e/EventStream.ts"
import { Http } from "../../e2e/Http.ts"
import { makeFakeRegistrationServer } from "../../fakes/FakeRegistrationServer.ts"
import { makeGate } from "../../fakes/Gate.ts"
import { makeFakeLog } from "../../fakes/World.ts"
import { asks, exchange, staying } from "../http/rawHttp.ts"

const path = "/debug/machine/events"
const snapshot = createActor(registrarMachine, { input: { policy: defaultPolicy } }).getSnapshot()
const roomy: Limits = { longestRecord: 1_000_000, mostBehindBytes: 1_000_000, mostClients: 8 }
/** More than a kernel holds for a peer that does not read. */
const muchBytes = 100_000_000

const serve = (limits: Limits) =>
  Effect.gen(function* () {
    const http = yield* Effect.promise(() => Http.open())
    let listeners = 0
    const context = yield* Layer.build(Status.layer())
    const real = yield* Effect.provideContext(Status, context)
    const status: Status["Service"] = {
      ...real,
      subscribe: (listener) => {
        listeners++
        const mute = real.subscribe(listener)
        return () => {
          listeners--
          mute()
        }
      }
    }
    status.keepDetails()
    const { events, file } = makeInspector(status, limits)
    const routes = new Map([
      [path, () => Effect.sync(events)],
      ["/file", () => Effect.sync(file)]
    ])
    const services = Layer.mergeAll(
      Klog.layer(makeFakeLog().log),
      makeFakeRegistrationServer(makeGate()).layer,
      Layer.succeed(Status, status)
    )
    const address = http.flag.replace("--http-endpoint=", "")
    yield* Layer.build(Layer.provide(HttpServer.layer(address, [Effect.succeed(routes)]), services))
    const open = Effect.promise(() => EventStream.open(http))
    const refuse = (n: number) =>
      status.record({ type: "kubelet.refused", text: `${n} `.padEnd(900, "x"), spread: 0 }, snapshot)
    return { http, port: Number(address.slice(address.lastIndexOf(":") + 1)), refuse, open, listeners: () => listeners }
  })

const numberOf = (line: string): number => Number.parseInt(JSON.parse(line).payload.text, 10)

it.live("what was, then what comes, in order and once; and nobody listens before and after", () =>
  Effect.gen(function* () {
    const { refuse, open, listeners, http } = yield* serve(roomy)
    refuse(0)
    refuse(1)
    assert.equal(listeners(), 0)

    const [one, other] = [yield* open, yield* open]
    assert.equal(listeners(), 1)
    refuse(2)
    refuse(3)
    for (const { lines } of [one, other]) {
      yield* Effect.promise(() => lines.next("the last", (line) => line.includes('"3 ')))
      assert.deepEqual(lines.all.slice(1).map(numberOf), [0, 1, 2, 3])
    }
    const file = yield* Effect.promise(async () => (await http.fetch("/file")).text())
    assert.deepEqual(file.trimEnd().split("\n").slice(1), one.lines.all.slice(1))

    one.close()
    other.close()
    yield* Effect.promise(async () => {
      while (listeners() > 0) await setImmediate()
    })
  })
)

it.live("a client that does not read is hung up on, the others get everything", () =>
  Effect.gen(function* () {
    const limits = { longestRecord: 10_000, mostBehindBytes: 100_000, mostClients: 2 }
    const { port, refuse, open } = yield* serve(limits)
    const reader = yield* open
    const slow = yield* Effect.promise(() => staying(port, asks("GET", path)))
    yield* Effect.promise(() => once(slow, "data"))
    slow.pause()
    let sent = 0
    yield* Effect.promise(async () => {
      // While it is a client, there is no room for a third.
      while (sent * 1_000 < muchBytes && (await exchange(port, asks("GET", path))).startsWith("HTTP/1.1 503")) {
        for (let n = 0; n < 200; n++) {
          refuse(sent++)
          if (n % 10 === 0) await setImmediate()
        }
      }
      await reader.lines.next("the last", (line) => line.includes(`"${sent - 1} `))
    })
    slow.destroy()

    assert.isBelow(sent * 1_000, muchBytes)
    assert.deepEqual(
      reader.lines.all.slice(1).map(numberOf),
      Array.from({ length: sent }, (_, n) => n)
    )
    reader.close()
  })
)

it.live("one client too many is sent away, and may come when another has left", () =>
  Effect.gen(function* () {
    const { port, open, listeners } = yield* serve({ ...roomy, mostClients: 1 })
    const ask = () => Effect.promise(() => exchange(port, asks("GET", path)))
    const only = yield* open
    assert.match(yield* ask(), /^HTTP\/1\.1 503 [\s\S]*too many clients/)

    only.close()
    yield* Effect.promise(async () => {
      while (listeners() > 0) await setImmediate()
    })
    assert.match(yield* ask(), /^HTTP\/1\.1 200 /)
  })
)

it.live("of long texts, as many entries as fit", () =>
  Effect.gen(function* () {
    const { refuse, http } = yield* serve({ ...roomy, longestRecord: 5_000 })
    for (let n = 0; n < 100; n++) refuse(n)
    const file = yield* Effect.promise(async () => (await http.fetch("/file")).text())
    const numbers = file.trimEnd().split("\n").slice(1).map(numberOf)
    assert.deepEqual(numbers, [96, 97, 98, 99].slice(-numbers.length))
    assert.isAbove(numbers.length, 1)
  })
)
