/**
 * The registration server answers at any time, in any order, on any connection.
 */
import { expect, it } from "vitest"

import { type Driver, World } from "./Harness.ts"
import { RegistrationClient } from "../fakes/peers/RegistrationClient.ts"

/** The kubelet's limit is 1 s, and includes its own delays. */
const promptMs = 250

const infoOf = (driver: Driver) => ({
  type: "CSIPlugin",
  name: driver.name,
  endpoint: driver.address,
  supported_versions: ["1.0.0"]
})

const open = async () => {
  const world = await World.open()
  const driver = await world.driver()
  const registrar = world.registrar(driver)
  await registrar.serving()
  return { driver, registrar }
}

it("any authority is answered: an encoded path, a raw path, localhost", async () => {
  const { driver, registrar } = await open()

  for (const authority of [encodeURIComponent(registrar.socket), registrar.socket, "localhost"]) {
    expect(await new RegistrationClient(registrar.socket, authority).getInfo()).toEqual(infoOf(driver))
  }
})

it("20 connections one after the other and two at once get the same answer", async () => {
  const { driver, registrar } = await open()
  const ask = async () => {
    const client = new RegistrationClient(registrar.socket)
    const info = await client.getInfo()
    client.close()
    return info
  }

  for (let i = 0; i < 20; i++) {
    expect(await ask()).toEqual(infoOf(driver))
  }
  expect(await Promise.all([ask(), ask()])).toEqual([infoOf(driver), infoOf(driver)])
})

it("a driver that hangs does not delay the answer", async () => {
  const { driver, registrar } = await open()
  const client = new RegistrationClient(registrar.socket)
  // The first call pays for the connection.
  await client.getInfo()
  driver.program.signal("SIGSTOP")

  const askedAt = performance.now()
  expect(await client.getInfo()).toEqual(infoOf(driver))
  expect(performance.now() - askedAt).toBeLessThan(promptMs)
})

it("a verdict on a new connection is accepted, as after a cut one", async () => {
  const { registrar } = await open()
  const cut = new RegistrationClient(registrar.socket)
  await cut.getInfo()
  cut.close()

  expect(await new RegistrationClient(registrar.socket).notify(true)).toEqual({})

  await registrar.accepted()
  expect(registrar.program.running).toBe(true)
})

it("a verdict that nobody was asked about is answered, and so is each repetition", async () => {
  const { driver, registrar } = await open()
  const client = new RegistrationClient(registrar.socket)

  expect(await client.notify(true)).toEqual({})
  expect(await client.notify(true)).toEqual({})
  expect(await client.notify(false, "changed my mind")).toEqual({})
  expect(await client.getInfo()).toEqual(infoOf(driver))
  expect(await client.notify(true)).toEqual({})
  expect(registrar.program.running).toBe(true)
})
