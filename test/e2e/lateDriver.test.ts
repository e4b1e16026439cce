/**
 * Claim: a driver whose socket is bound late is asked for its name at once, whenever it comes, and whether the folder of its socket was there
 * or not; an answer that may change is asked for again, one that will not ends the registrar at once.
 */
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout } from "node:timers/promises"

import { status } from "@grpc/grpc-js"
import fc from "fast-check"
import { expect } from "vitest"

import { said } from "./Registrar.ts"
import { driverName, it, promptMs } from "./World.ts"

const runs = 30
const latestMs = 300
const missingLevels = [[], ["one"], ["one", "two"]]

it(`is asked within ${promptMs} ms of its bind, in each of ${runs} worlds`, { timeout: 60_000 }, async ({ world }) => {
  // The first one pays for the code that the test itself runs for the first time.
  await asksWithin(0, [])
  const delays = fc.record({ delayMs: fc.nat(latestMs), missing: fc.constantFrom(...missingLevels) })
  await fc.assert(
    fc.asyncProperty(delays, async ({ delayMs, missing }) => {
      expect(await asksWithin(delayMs, missing)).toBeLessThanOrEqual(promptMs)
    }),
    { numRuns: runs, endOnFailure: true }
  )

  async function asksWithin(delayMs: number, missing: ReadonlyArray<string>): Promise<number> {
    const folder = fs.mkdtempSync(join(world.root, "d-"))
    const driver = world.absentDriver(driverName, join(folder, ...missing, "csi.sock"))
    const registrar = world.registrar(`--csi-address=${driver.address}`)
    await registrar.says(said.waiting)
    await setTimeout(delayMs)
    fs.mkdirSync(dirname(driver.address), { recursive: true })
    const boundAt = performance.now()
    await driver.comes()
    const askedAt = await driver.calls.next("GetPluginInfo", () => true)
    expect(await registrar.end()).toMatchObject({ code: 0 })
    driver.goes()
    return askedAt - boundAt
  }
})

it("a dead socket in its place is waited for, and said so", async ({ world }) => {
  const driver = world.absentDriver()
  await world.deadSocket(driver.address)
  const registrar = world.registrar()
  expect(await registrar.says(said.waiting)).toContain("connection refused, nobody listens")

  fs.rmSync(driver.address)
  const boundAt = performance.now()
  await driver.comes()
  const askedAt = await driver.calls.next("GetPluginInfo", () => true)

  expect(askedAt - boundAt).toBeLessThanOrEqual(promptMs)
  await registrar.says(said.started)
})

it("a driver that answers too late, then with an error, is asked again until it tells its name", async ({ world }) => {
  const driver = await world.driver()
  driver.hangs()
  const registrar = world.registrar("--timeout=100ms")
  expect(await registrar.says(said.waiting)).toContain("DeadlineExceeded")
  driver.refuses(status.UNAVAILABLE, "starting")
  expect(await registrar.says(said.waiting)).toContain("rpc error: code = Unavailable desc = starting")
  driver.tells(driverName)
  await registrar.says(said.started)
})

it("a slow driver that answers within the limit is asked once", async ({ world }) => {
  const driver = await world.driver()
  driver.hangs()
  const registrar = world.registrar("--timeout=10s")
  await driver.calls.next("GetPluginInfo", () => true)
  driver.wakesUp()
  await registrar.says(said.started)

  expect(driver.calls.all).toHaveLength(1)
})

it("a driver that does not know the call ends the registrar at once, with upstream's words", async ({ world }) => {
  const driver = await world.driver()
  driver.refuses(status.UNIMPLEMENTED, "unknown method GetPluginInfo")
  const registrar = world.registrar()

  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(registrar.lastLine).toContain('] "Error retreiving CSI driver name" err="rpc error: code = Unimplemented')
  expect(driver.calls.all).toHaveLength(1)
  expect(world.entries()).toEqual([])
})

it("a driver that never comes ends it when the limit is over, with what was missing", async ({ world }) => {
  const driver = world.absentDriver()
  const registrar = world.registrar("--csi-connect-timeout=300ms")

  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(registrar.lastLine).toContain(
    `] "Error connecting to CSI driver" err="${driver.address} does not exist" advice=`
  )
})
