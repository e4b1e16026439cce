/**
 * Claim: a driver that goes away costs neither the registration nor readiness; one that is back under its name changes nothing, under another name
 * that one is announced, and with --reannounce-on-driver-restart it is registered anew.
 */
import { join } from "node:path"

import { expect } from "vitest"

import { identityOf } from "../fakes/peers/sockets.ts"
import { Http } from "./Http.ts"
import { said } from "./Registrar.ts"
import { driverName, it, promptMs, socketName, type World } from "./World.ts"

const lost = "Lost connection to the CSI driver, the registration stays"
const back = "CSI driver is back"
const otherName = "other.csi.k8s.io"

const openRegistered = async (world: World, ...flags: ReadonlyArray<string>) => {
  const driver = await world.driver()
  const http = await Http.open()
  const registrar = await world.registered(http.flag, ...flags)
  return { driver, http, registrar }
}

it("a lost driver leaves the registration, health and readiness as they were", async ({ world }) => {
  const { driver, http, registrar } = await openRegistered(world)
  const announced = identityOf(world.socket)

  driver.goes()

  expect(await registrar.says(lost)).toContain(`csiDriverName="${driverName}"`)
  expect(await http.get("/healthz")).toBe("200 ok")
  expect(await http.get("/readyz")).toBe("200 ok")
  expect((await http.readiness()).driver).toEqual({ name: driverName, connected: false })
  expect(identityOf(world.socket)).toBe(announced)
})

it("back under its name it is asked at once, and nothing is announced anew", async ({ world }) => {
  const { driver, http, registrar } = await openRegistered(world)
  const announced = identityOf(world.socket)

  for (let restart = 0; restart < 2; restart++) {
    driver.goes()
    await registrar.says(said.waiting)
    const from = performance.now()
    await driver.comes()
    await registrar.says(back)
    expect(performance.now() - from).toBeLessThanOrEqual(2 * promptMs)
  }

  expect(await http.readiness()).toMatchObject({ state: "registered", driver: { name: driverName, connected: true } })
  expect(identityOf(world.socket)).toBe(announced)
})

it("back under another name, that one is announced and the first one's socket is gone", async ({ world }) => {
  const { driver, http, registrar } = await openRegistered(world)
  const watch = world.watch()

  driver.goes()
  await registrar.says(lost)
  driver.tells(otherName)
  await driver.comes()
  await registrar.says("CSI driver is back under another name")
  await watch.appears(`${otherName}-reg.sock`)

  expect(world.visible()).toEqual([`${otherName}-reg.sock`])
  expect((await world.kubelet(join(world.registry, `${otherName}-reg.sock`)).getInfo()).name).toBe(otherName)
  expect(await http.readiness()).toMatchObject({ ready: false, driver: { name: otherName, connected: true } })
  expect(await registrar.end()).toMatchObject({ code: 0 })
  expect(world.entries()).toEqual([])
})

it("with --reannounce-on-driver-restart it is registered anew", async ({ world }) => {
  const { driver, http, registrar } = await openRegistered(world, "--reannounce-on-driver-restart")
  const announced = identityOf(world.socket)

  driver.goes()
  await registrar.says(lost)
  await driver.comes()
  await registrar.says(said.started)

  expect(identityOf(world.socket)).not.toBe(announced)
  expect(world.visible()).toEqual([socketName])
  expect(await http.readiness()).toMatchObject({ ready: false, state: "listening" })
  await world.accepts(registrar)
  expect(await http.get("/readyz")).toBe("200 ok")
})

it("one that is back and cannot be used is waited for, and the registration stays", async ({ world }) => {
  const { driver, http, registrar } = await openRegistered(world)

  driver.goes()
  await registrar.says(lost)
  driver.tells("not a name")
  await driver.comes()
  expect(await registrar.says("CSI driver is back but cannot be used")).toContain("is not a CSI name")
  expect(await http.get("/readyz")).toBe("200 ok")

  driver.tells(driverName)
  await registrar.says(back)
  expect(world.visible()).toEqual([socketName])
})
