/**
 * Claim: of two registrars of one name the newest wins and both say so; the other one waits, healthy and not ready, touches nothing, and announces
 * again when the winner has gone, within 1 s when it left and within 3 s when it was killed.
 */
import { expect } from "vitest"

import type { FolderWatch } from "../fakes/peers/FolderWatch.ts"
import { identityOf } from "../fakes/peers/sockets.ts"
import { Http } from "./Http.ts"
import { said } from "./Registrar.ts"
import { driverName, it, socketName, type World } from "./World.ts"

const afterLeaveMs = 1_000
const afterKillMs = 3_000

/** The first answer at the socket's path; while one takes over from another there may be none. */
const answering = async (world: World, watch: FolderWatch) => {
  for (;;) {
    const since = performance.now()
    try {
      return await world.kubelet().getInfo()
    } catch {
      await watch.appears(socketName, since)
    }
  }
}

const openTwo = async (world: World) => {
  await world.driver()
  const http = await Http.open()
  const older = await world.registered(http.flag)
  const newer = await world.registered()
  await older.says(said.displaced)
  return { http, older, newer }
}

it("the newest wins, and the older one is healthy, but not ready", async ({ world }) => {
  const { http, older, newer } = await openTwo(world)

  expect(newer.messages).toContain("Took over the registration socket from another registrar")
  expect(await http.get("/healthz")).toBe("200 ok")
  expect(await http.get("/livez")).toBe("200 ok")
  expect(await http.get("/readyz")).toBe(
    "503 displaced: another registrar of this driver holds the registration socket"
  )
  expect(older.program.running).toBe(true)
  expect(world.visible()).toEqual([socketName])
})

it("the older one ends without touching the winner's socket", async ({ world }) => {
  const { older, newer } = await openTwo(world)
  const held = identityOf(world.socket)

  expect(await older.end()).toMatchObject({ code: 0 })

  expect(identityOf(world.socket)).toBe(held)
  expect((await world.kubelet().getInfo()).name).toBe(driverName)
  await newer.says(said.asked)
})

it("the winner leaves: the older one announces within 1 s", async ({ world }) => {
  const { http, older, newer } = await openTwo(world)
  const watch = world.watch()

  const from = performance.now()
  expect(await newer.end()).toMatchObject({ code: 0 })

  await older.says("The other registrar has left, announcing again")
  expect((await watch.appears(socketName, from)).at - from).toBeLessThanOrEqual(afterLeaveMs)
  await world.accepts(older)
  expect(await http.get("/readyz")).toBe("200 ok")
  await older.end()
  expect(world.entries()).toEqual([])
})

it("the winner is killed and its socket stays: the older one announces within 3 s", async ({ world }) => {
  const { older, newer } = await openTwo(world)
  const watch = world.watch()

  const from = performance.now()
  await newer.program.kill()

  expect((await watch.appears(socketName, from)).at - from).toBeLessThanOrEqual(afterKillMs)
  await older.says(said.started)
  await world.accepts(older)
  await older.end()
  expect(world.visible()).toEqual([])
})

it("a third one wins over both, and the last one that is left has the socket in the end", async ({ world }) => {
  const { older, newer } = await openTwo(world)
  const newest = await world.registered()
  await newer.says(said.displaced)

  await newest.end()
  // Which of the two that wait comes first is open; the other one sees that it holds the socket, or takes turns once.
  await Promise.race([older.says(said.started), newer.says(said.started)])
  await newer.end()

  const watch = world.watch()
  if (!world.visible().includes(socketName)) await watch.appears(socketName)
  expect((await world.kubelet().getInfo()).name).toBe(driverName)
  await older.end()
  expect(world.entries()).toEqual([])
})

it("of five that start at once one has the socket, and whoever is left has it after each end", async ({ world }) => {
  await world.driver()
  const waiting = Array.from({ length: 5 }, () => world.registrar())
  const watch = world.watch()
  await Promise.all(waiting.map((registrar) => registrar.says(said.started)))

  while (waiting.length > 0) {
    // One of them answers, whichever it is.
    expect((await answering(world, watch)).name).toBe(driverName)
    expect(await waiting.shift()?.end()).toMatchObject({ code: 0 })
  }

  expect(world.entries()).toEqual([])
})

it("a GetInfo of anybody else changes nothing", async ({ world }) => {
  await world.driver()
  const http = await Http.open()
  const registrar = await world.registered(http.flag)
  const registeredSince = (await http.readiness()).since
  const linesBefore = registrar.lines.length

  for (let call = 0; call < 5; call++) expect((await world.kubelet().getInfo()).name).toBe(driverName)

  expect(await http.get("/readyz")).toBe("200 ok")
  expect(await http.readiness()).toMatchObject({ state: "registered", since: registeredSince })
  // Nothing but the calls themselves, and the self-check behind /readyz.
  const expected = [
    said.asked,
    "Attempting to open a gRPC connection",
    "Calling node registrar to check if it still responds"
  ]
  expect(expected).toEqual(expect.arrayContaining(registrar.messages.slice(linesBefore)))
})
