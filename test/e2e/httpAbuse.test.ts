/**
 * Claim: whatever clients do to the HTTP endpoint, probes are answered, the registration stays, no descriptor and no memory is kept, and the end is
 * not delayed.
 */
import { once } from "node:events"
import * as fs from "node:fs"
import type { Socket } from "node:net"

import { expect } from "vitest"

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

const times = <A>(count: number, make: () => Promise<A>): Promise<Array<A>> =>
  Promise.all(Array.from({ length: count }, make))

const answered = async (port: number, text: string): Promise<Socket> => {
  const socket = await staying(port, text)
  await once(socket, "data")
  return socket
}

/** Silent ones, ones that stop within a head, and ones that have an answer and stay. */
const crowd = async (port: number): Promise<ReadonlyArray<Socket>> => [
  ...(await times(each, () => staying(port))),
  ...(await times(each, () => staying(port, "GET /healthz HTTP/1.1\r\nHos"))),
  ...(await times(each, () => answered(port, `${asks("POST", "/healthz", "Content-Length: 9")}abc`)))
]

const leave = (sockets: ReadonlyArray<Socket>) => {
  for (const socket of sockets) socket.destroy()
}

const tooLarge = answers.refused("431 Request Header Fields Too Large")
const healthy = answers.plain("200 OK", "ok")

const abuse = async (port: number) => {
  const sockets = await crowd(port)
  const garbage = await times(each, () => exchange(port, `${asks("PUT", "//x")}garbage\r\n`))
  const huge = await times(2, () => exchange(port, asks("GET", "/healthz", `Foo: ${"a".repeat(hugeBytes)}`)))
  expect(await exchange(port, asks("GET", "/healthz"))).toBe(healthy)
  expect(new Set(garbage)).toEqual(new Set([answers.redirectOfOthers("/x") + answers.refused("400 Bad Request")]))
  expect(huge).toEqual([tooLarge, tooLarge])
  leave(sockets)
}

const descriptors = ({ program }: Registrar) => fs.readdirSync(`/proc/${program.pid}/fd`).length

/** What is left once the registrar has seen that everybody has gone; a request that is answered is a turn of its loop. */
const settled = async (port: number, registrar: Registrar, before: number): Promise<number> => {
  for (let turn = 0; turn < 1_000 && descriptors(registrar) > before; turn++)
    await exchange(port, asks("GET", "/livez"))
  return descriptors(registrar)
}

it.skipIf(!preloads)(
  `rounds of abuse: answered on, no descriptor and no memory kept${bundleOnly}`,
  async ({ world }) => {
    world.wrapper = measured
    const http = await Http.open()
    const port = portOf(http)
    const registrar = await states.registered(world, http.flag)
    await exchange(port, asks("GET", "/healthz"))
    const before = descriptors(registrar)
    const afterRound: Array<number> = []

    for (let round = 0; round < rounds; round++) {
      await abuse(port)
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
  const registrar = await states.registered(world, http.flag)
  const sockets = await crowd(port)
  const from = performance.now()
  expect(await exchange(port, asks("GET", "/healthz"))).toBe(healthy)
  expect(performance.now() - from).toBeLessThan(promptMs)

  const { code, tookMs } = await registrar.end()

  expect(code).toBe(0)
  expect(tookMs).toBeLessThanOrEqual(promptMs)
  expect(world.entries()).toEqual([])
  leave(sockets)
})
