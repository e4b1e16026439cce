/**
 * Claim: a registration socket that others remove is back at once and answers; whoever removes it again and again is not fought but met with a
 * back-off; something dead in its place is replaced; and a file that is no socket is left alone, at the price of exit 1.
 */
import * as fs from "node:fs"

import { expect } from "vitest"

import { said } from "./Registrar.ts"
import { driverName, it, promptMs, socketName, type World } from "./World.ts"

const secondRestMs = 1_000
const thirdRestMs = 2_000
/** It takes three looks, 100 ms apart, before a socket that refuses is taken for dead. */
const deadMs = 200

const infoFrom = async (world: World) => {
  const kubelet = world.kubelet()
  const { name } = await kubelet.getInfo()
  kubelet.close()
  return name
}

/** Warm, so that the test's own first call is not counted. */
const openRegistered = async (world: World) => {
  await world.driver()
  const registrar = await world.registered()
  return { registrar, watch: world.watch() }
}

it(`a removed socket is replaced by one that answers within ${promptMs} ms, and registered anew`, async ({ world }) => {
  const { registrar, watch } = await openRegistered(world)

  const removedAt = performance.now()
  fs.rmSync(world.socket)
  await watch.appears(socketName, removedAt)
  expect(await infoFrom(world)).toBe(driverName)
  expect(performance.now() - removedAt).toBeLessThanOrEqual(promptMs)

  expect(await registrar.says(said.removed)).toContain("losses=1")
  await world.accepts(registrar)
  expect(fs.lstatSync(world.socket).mode & 0o7777).toBe(0o700)
  expect(world.visible()).toEqual([socketName])
})

it("removed each time it appears, it comes back after 1 s, then after 2 s: no fight", async ({ world }) => {
  const { registrar, watch } = await openRegistered(world)
  const rests: Array<number> = []

  for (let loss = 0; loss < 3; loss++) {
    const removedAt = performance.now()
    fs.rmSync(world.socket)
    rests.push((await watch.appears(socketName, removedAt)).at - removedAt)
  }

  expect(rests[0]).toBeLessThanOrEqual(promptMs)
  expect(rests[1]).toBeGreaterThanOrEqual(secondRestMs)
  expect(rests[1]).toBeLessThanOrEqual(secondRestMs + promptMs)
  expect(rests[2]).toBeGreaterThanOrEqual(thirdRestMs)
  expect(rests[2]).toBeLessThanOrEqual(thirdRestMs + promptMs)
  expect(await infoFrom(world)).toBe(driverName)
  // One that went and one that came for each loss.
  expect(await watch.counts()).toEqual({ [socketName]: 6 })
  expect(await registrar.end()).toMatchObject({ code: 0 })
  expect(world.entries()).toEqual([])
})

it("something dead in its place is replaced", async ({ world }) => {
  const { registrar } = await openRegistered(world)

  await world.deadSocket()
  const replacedAt = performance.now()
  await registrar.says(said.started)
  expect(performance.now() - replacedAt).toBeLessThanOrEqual(2 * deadMs + promptMs)

  expect(await infoFrom(world)).toBe(driverName)
  await world.accepts(registrar)
})

it("its name given to another file by rename: the socket is back, the other name is left alone", async ({ world }) => {
  const { registrar } = await openRegistered(world)
  fs.renameSync(world.socket, `${world.socket}.moved`)
  await registrar.says(said.started)

  expect(await infoFrom(world)).toBe(driverName)
  expect(world.visible()).toEqual([socketName, `${socketName}.moved`])
})

it("a regular file in its place: exit 1 with one line that says so, and the file is left alone", async ({ world }) => {
  const { registrar } = await openRegistered(world)
  fs.writeFileSync(`${world.root}/mine`, "mine")
  fs.renameSync(`${world.root}/mine`, world.socket)

  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  const errors = registrar.lines.filter((line) => line.startsWith("E") && !line.includes(said.removed))
  expect(errors).toEqual([registrar.lastLine])
  expect(registrar.lastLine).toContain(
    `] "Failed to listen on socket" err="file exists in socketPath ${world.socket} but it's not a socket`
  )
  expect(world.entries()).toEqual([socketName])
  expect(fs.readFileSync(world.socket, "utf8")).toBe("mine")
})

it("the folder deleted under it: exit 1 with one line that says what helps", async ({ world }) => {
  const { registrar } = await openRegistered(world)
  fs.rmSync(world.registry, { recursive: true })

  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(registrar.lastLine).toContain(
    `] "Failed to listen on socket" err="${world.registry} was deleted under its mount" advice="only a restart`
  )
})
