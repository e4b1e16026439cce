/**
 * Claim: whatever clients do to the HTTP endpoint, probes are answered, the registration stays, no descriptor and no memory is kept, and the end is
 * not delayed.
 */
import { once } from "node:events"
import * as fs from "node:fs"
import type { Socket } from "node:net"

import { describe, expect } from "vitest"

import { answers, asks, exchange, staying } from "../services/http/rawHttp.ts"
import { Http } from "./Http.ts"
import { anonymousMiB, keptByEach, measured } from "./memory.ts"
import type { Registrar } from "./Registrar.ts"
import { states } from "./states.ts"
import { bundleOnly, it, promptMs, preloads } from "./World.ts"

const each = 100
const hugeBytes = 10_000_000
const rounds = 9
/** Leaked sockets alone are over 1 MiB a round. */
const keptMiB = 0.5

const portOf = ({ flag }: Http) => Number(flag.slice(flag.lastIndexOf(":") + 1))

const times = <A>(count: number, make: (n: number) => Promise<A>): Promise<Array<A>> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

const answered = async (port: number, text: string): Promise<Socket> => {
  const socket = await staying(port, text)
  await once(socket, "data")
  return socket
}

/** Asks, and reads nothing of what it is told. */
const unread = async (port: number, text: string): Promise<Socket> => (await staying(port, text)).pause()

interface Endpoint {
  readonly flags: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string>
}

const endpoints: Readonly<Record<string, Endpoint>> = {
  "health alone": { flags: [], paths: ["/healthz"] },
  "everything that can be asked": {
    flags: ["--enable-inspector", "--enable-pprof"],
    paths: [
      "/healthz",
      "/metrics",
      "/debug/machine",
      "/debug/machine/events",
      "/debug/machine/events.ndjson",
      "/debug/pprof/profile?seconds=300",
      "/debug/pprof/heap"
    ]
  }
}

/** Silent ones, ones that stop within a head, ones that read no answer, and ones that have an answer and stay. */
const crowd = async (port: number, { paths }: Endpoint): Promise<ReadonlyArray<Socket>> => {
  const pathOf = (n: number) => paths[n % paths.length] ?? ""
  return [
    ...(await times(each, () => staying(port))),
    ...(await times(each, (n) => staying(port, `GET ${pathOf(n)} HTTP/1.1\r\nHos`))),
    ...(await times(each, (n) => unread(port, asks("GET", pathOf(n))))),
    ...(await times(each, (n) => answered(port, `${asks("POST", pathOf(n), "Content-Length: 9")}abc`)))
  ]
}

const leave = (sockets: ReadonlyArray<Socket>) => {
  for (const socket of sockets) socket.destroy()
}

const tooLarge = answers.refused("431 Request Header Fields Too Large")
const healthy = answers.plain("200 OK", "ok")

const abuse = async (port: number, endpoint: Endpoint) => {
  const sockets = await crowd(port, endpoint)
  const garbage = await times(each, () => exchange(port, `${asks("PUT", "//x")}garbage\r\n`))
  const huge = await Promise.all(
    endpoint.paths.map((path) => exchange(port, asks("GET", path, `Foo: ${"a".repeat(hugeBytes)}`)))
  )
  expect(await exchange(port, asks("GET", "/healthz"))).toBe(healthy)
  expect(new Set(garbage)).toEqual(new Set([answers.redirectOfOthers("/x") + answers.refused("400 Bad Request")]))
  expect(new Set(huge)).toEqual(new Set([tooLarge]))
  leave(sockets)
}

const descriptors = ({ program }: Registrar) => fs.readdirSync(`/proc/${program.pid}/fd`).length

/** What is left once the registrar has seen that everybody has gone; a request that is answered is a turn of its loop. */
const settled = async (port: number, registrar: Registrar, before: number): Promise<number> => {
  for (let turn = 0; turn < 1_000 && descriptors(registrar) > before; turn++)
    await exchange(port, asks("GET", "/livez"))
  return descriptors(registrar)
}

describe.each(Object.entries(endpoints))("%s", (_, endpoint) => {
  it.skipIf(!preloads)(
    `rounds of abuse: answered on, no descriptor and no memory kept${bundleOnly}`,
    async ({ world }) => {
      world.wrapper = measured
      const http = await Http.open()
      const port = portOf(http)
      const registrar = await states.registered(world, http.flag, ...endpoint.flags)
      await exchange(port, asks("GET", "/healthz"))
      const before = descriptors(registrar)
      const afterRound: Array<number> = []

      for (let round = 0; round < rounds; round++) {
        await abuse(port, endpoint)
        expect(await settled(port, registrar, before)).toBeLessThanOrEqual(before)
        afterRound.push(await anonymousMiB(registrar))
        expect(await http.get("/readyz")).toBe("200 ok")
      }

      expect(keptByEach(afterRound)).toBeLessThanOrEqual(keptMiB)
      expect(registrar.lines.filter((line) => line.startsWith("E"))).toEqual([])
    }
  )

  it("a crowd that stays delays neither an answer nor the end", async ({ world }) => {
    const http = await Http.open()
    const port = portOf(http)
    const registrar = await states.registered(world, http.flag, ...endpoint.flags)
    const sockets = await crowd(port, endpoint)
    const from = performance.now()
    expect(await exchange(port, asks("GET", "/healthz"))).toBe(healthy)
    expect(performance.now() - from).toBeLessThan(promptMs)

    const { code, tookMs } = await registrar.end()

    expect(code).toBe(0)
    expect(tookMs).toBeLessThanOrEqual(promptMs)
    expect(world.entries()).toEqual([])
    leave(sockets)
  })
})

const observed = endpoints["everything that can be asked"]!

/** A refusal of this text is an event of 12 kB: control characters are six in JSON, and the context tells the text again. */
const longText = "\u0001".repeat(1_000)
/** Three times what may wait for a client. */
const manyRefusals = 600
/** What may wait for all eight clients, and the record. */
const streamsMiB = 20

it.skipIf(!preloads)(
  `300 clients of the inspector that never read: the slow are hung up on, and memory has a limit${bundleOnly}`,
  async ({ world }) => {
    world.wrapper = measured
    const http = await Http.open()
    const port = portOf(http)
    const registrar = await states.registered(world, http.flag, "--registration-attempts=0", ...observed.flags)
    await exchange(port, asks("GET", "/healthz"))
    const before = { descriptors: descriptors(registrar), memory: await anonymousMiB(registrar) }
    const clients = await times(3 * each, () => unread(port, asks("GET", "/debug/machine/events")))
    const kubelet = world.kubelet()

    for (let n = 0; n < manyRefusals; n++) await kubelet.notify(false, longText)
    kubelet.close()

    // Those that were one too many have had their answer, and stay.
    const staying = before.descriptors + clients.length - 8
    expect(await settled(port, registrar, staying)).toBeLessThanOrEqual(staying)
    expect((await anonymousMiB(registrar)) - before.memory).toBeLessThanOrEqual(streamsMiB)
    expect(await exchange(port, asks("GET", "/livez"))).toBe(healthy)
    const { code, tookMs } = await registrar.end()
    expect(code).toBe(0)
    expect(tookMs).toBeLessThanOrEqual(promptMs)
    leave(clients)
  }
)

it("heads that come byte by byte, and bodies that never end, delay neither an answer nor the end", async ({
  world
}) => {
  const http = await Http.open()
  const port = portOf(http)
  const registrar = await states.registered(world, http.flag, ...observed.flags)
  const pathOf = (n: number) => observed.paths[n % observed.paths.length] ?? ""
  const heads = await times(each, () => staying(port))
  const bodies = await times(each, (n) => staying(port, asks("POST", pathOf(n), "Transfer-Encoding: chunked")))
  const halves = await times(each, async (n) => (await staying(port, `GET ${pathOf(n)} HTTP/1.1\r\nHo`)).end())

  for (const [at, letter] of [..."GET /metrics HTTP/1.1\r\nHost: a"].entries()) {
    for (const socket of heads) socket.write(letter)
    for (const socket of bodies) socket.write("1\r\nx\r\n")
    if (at % 8 === 0) expect(await exchange(port, asks("GET", "/healthz"))).toBe(healthy)
  }

  const { code, tookMs } = await registrar.end()
  expect(code).toBe(0)
  expect(tookMs).toBeLessThanOrEqual(promptMs)
  leave([...heads, ...bodies, ...halves])
})

const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "FOO"]
const undebugged = ["/healthz", "/livez", "/readyz", "/metrics"]
const debugged = [
  "/debug",
  "/debug/",
  "/debug/machine",
  "/debug/machine/events",
  "/debug/machine/events.ndjson",
  "/debug/pprof",
  "/debug/pprof/",
  "/debug/pprof/heap",
  "/debug/pprof/profile?seconds=1"
]

it.for([
  { title: "with all flags", flags: observed.flags, below: /^HTTP\/1\.1 (200|307|404|405|500) / },
  { title: "without the flags, where nothing is below /debug", flags: [], below: /^HTTP\/1\.1 404 / }
])("no method on any path changes the state, $title", async ({ flags, below }, { world }) => {
  const http = await Http.open()
  const port = portOf(http)
  const registrar = await states.registered(world, http.flag, ...flags)
  const { since } = await http.readiness()
  const transitions = () => registrar.lines.filter((line) => line.includes("Transition"))
  const before = transitions()

  for (const method of methods) {
    for (const path of debugged) {
      expect(await exchange(port, asks(method, path)), `${method} ${path}`).toMatch(below)
    }
    for (const path of undebugged) await exchange(port, asks(method, path))
  }

  expect(await http.readiness()).toMatchObject({ state: "registered", since })
  expect(transitions()).toEqual(before)
})
