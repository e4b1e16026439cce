/**
 * Claim: a fault of ours while a request is answered is told to whoever asked, with 500, and to nobody else; the next request is answered. No bytes at
 * all end the server, and its own end waits for nobody.
 */
import type { Socket } from "node:net"

import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import fc from "fast-check"

import { HttpAddressError } from "../../../src/services/http/listen.ts"
import * as HttpServer from "../../../src/services/http/HttpServer.ts"
import { Klog } from "../../../src/services/Klog.ts"
import { Status } from "../../../src/services/Status.ts"
import { Http } from "../../e2e/Http.ts"
import { makeFakeRegistrationServer } from "../../fakes/FakeRegistrationServer.ts"
import { makeGate } from "../../fakes/Gate.ts"
import { makeFakeLog } from "../../fakes/World.ts"
import { answers, asks, exchange, request, staying } from "./rawHttp.ts"

const services = (snapshot: () => undefined) =>
  Layer.mergeAll(
    Klog.layer(makeFakeLog().log),
    makeFakeRegistrationServer(makeGate()).layer,
    Layer.effect(
      Status,
      Effect.map(Status, (status) => ({ ...status, snapshot }))
    ).pipe(Layer.provide(Status.layer()))
  )

const endpoint = Effect.map(
  Effect.promise(() => Http.open()),
  ({ flag }) => flag.replace("--http-endpoint=", "")
)
const portOf = (address: string) => Number(address.slice(address.lastIndexOf(":") + 1))

it.live("an exception in a route is a 500 for that request, and nothing else", () =>
  Effect.gen(function* () {
    const address = yield* endpoint
    let faulty = true
    const snapshot = () => {
      if (faulty) throw new Error("a fault of ours")
      return undefined
    }
    yield* Layer.build(Layer.provide(HttpServer.layer(address), services(snapshot)))
    const ask = Effect.promise(() => exchange(portOf(address), asks("GET", "/healthz") + asks("GET", "/nothing")))

    assert.equal(
      yield* ask,
      answers.plain("500 Internal Server Error", "500 Internal Server Error\n") + answers.notFound()
    )
    faulty = false
    assert.equal(
      yield* ask,
      answers.plain("503 Service Unavailable", "connecting: the registrar is starting") + answers.notFound()
    )
  })
)

it.live("readiness is data for whoever wants data, before there is a chart too", () =>
  Effect.gen(function* () {
    const address = yield* endpoint
    yield* Layer.build(
      Layer.provide(
        HttpServer.layer(address),
        services(() => undefined)
      )
    )
    const response = yield* Effect.promise(() => fetch(`http://${address}/readyz?verbose`))

    assert.equal(response.status, 503)
    assert.equal(response.headers.get("content-type"), "application/json")
    const { since, ...told } = yield* Effect.promise(() => response.json() as Promise<Record<string, unknown>>)
    assert.isString(since)
    assert.deepEqual(told, {
      ready: false,
      reason: "connecting: the registrar is starting",
      state: "connecting",
      driver: { name: "", connected: false },
      lastGetInfo: null,
      lastVerdict: null
    })
  })
)

const crowd: ReadonlyArray<string> = [
  "",
  "GET / HT",
  asks("GET", "/healthz"),
  asks("CONNECT", "/"),
  asks("FOO", "/"),
  "x"
]

/** The sockets of the crowd do not close on their own. */
const hungUpOn = (socket: Socket): Promise<unknown> | undefined =>
  socket.readableEnded || socket.closed
    ? undefined
    : new Promise((resolve) => socket.once("end", resolve).once("close", resolve))

it.live("its end closes what is open, and frees the port", () =>
  Effect.gen(function* () {
    const address = yield* endpoint
    const port = portOf(address)
    const life = Effect.scoped(
      Effect.gen(function* () {
        const server = HttpServer.layer(address)
        yield* Layer.build(
          Layer.provide(
            server,
            services(() => undefined)
          )
        )
        const sockets = yield* Effect.promise(() => Promise.all(crowd.map((text) => staying(port, text))))
        yield* Effect.promise(() => exchange(port, asks("GET", "/")))
        return sockets.map(hungUpOn)
      })
    )

    for (let round = 0; round < 2; round++) {
      const closed = yield* life
      yield* Effect.promise(() => Promise.all(closed))
    }
  })
)

const pieces = [
  asks("GET", "/healthz"),
  asks("HEAD", "//x"),
  asks("FOO", "/livez"),
  asks("CONNECT", "/livez"),
  asks("GET", "/", "Connection: close"),
  asks("GET", "/", "Expect: 100-continue"),
  asks("GET", "/", "Expect: something"),
  asks("POST", "/", "Transfer-Encoding: chunked"),
  asks("POST", "/", "Content-Length: 3"),
  request("GET / HTTP/1.0"),
  request("GET / HTTP/1.1"),
  "GET ",
  "FOO ",
  "/",
  " HTTP/1.1",
  "\r\n",
  "\n",
  "Host",
  ":",
  "\0",
  "é",
  "9"
]

it.live("whatever comes, and whoever goes, it answers on", () =>
  Effect.gen(function* () {
    const address = yield* endpoint
    const port = portOf(address)
    const server = HttpServer.layer(address)
    yield* Layer.build(
      Layer.provide(
        server,
        services(() => undefined)
      )
    )
    const noise = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(""))
    )

    yield* Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(noise, fc.boolean(), async (text, leaves) => {
          if (leaves) (await staying(port, text)).resetAndDestroy()
          else assert.match(`${await exchange(port, text)}HTTP/1.1 `, /^HTTP\/1\.1 /)
        }),
        { numRuns: 1_000 }
      )
    )

    assert.equal(yield* Effect.promise(() => exchange(port, asks("GET", "/x"))), answers.notFound())
  })
)

it.live("a port that is taken is an error of its layer", () =>
  Effect.gen(function* () {
    const address = yield* endpoint
    const layer = Layer.provide(
      HttpServer.layer(address),
      services(() => undefined)
    )
    yield* Layer.build(layer)

    const error = yield* Effect.flip(Layer.build(Layer.fresh(layer)))

    assert.instanceOf(error, HttpAddressError)
    assert.equal(error.message, `listen tcp ${address}: bind: address already in use`)
  })
)
