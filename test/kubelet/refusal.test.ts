/**
 * A registration that the kubelet refuses is answered, and healed as long as attempts are left.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"

import { expect, it } from "vitest"

import { putDeadSocket } from "../fakes/peers/sockets.ts"
import { rows } from "../fixtures/troubleshooting.ts"
import { defaultDriver, type Registrar, World } from "./Harness.ts"

/** How upstream's registrar begins the line after which it ends; people and tools look for it. */
const lastWords = "Registration process failed with error, restarting registration container"

const lastLine = ({ program }: Registrar) => program.stderr.all.at(-1)

it("three refusals in a row are healed on the same process", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  await kubelet.refuse(3, "the node has no room")
  const registrar = world.registrar(await world.driver())

  await registrar.accepted()

  await kubelet.hasDrivers(defaultDriver)
  expect(kubelet.all("plugin.refused")).toHaveLength(3)
  expect(registrar.program.running).toBe(true)
})

it("with one attempt a refusal is answered, then the registrar exits 1 and leaves nothing", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  await kubelet.refuse(1, "the node has no room")
  const registrar = world.registrar(await world.driver(), "--registration-attempts=1")

  const text = "RegisterPlugin error -- plugin registration failed with err: the node has no room"
  expect(await registrar.refused()).toContain(text)
  expect(await registrar.program.exited).toMatchObject({ code: 1, signal: null })
  expect(lastLine(registrar)).toContain(lastWords)
  expect(lastLine(registrar)).toContain(text)
  // An answer that is missing is told by the plugin manager behind the text: "rpc error: code = Unavailable ...".
  expect(await kubelet.failedOperation()).toMatch(/the node has no room$/)
  expect(await world.entries()).toEqual([])
})

it("a kubelet without a CSI handler is told about in its own words", async () => {
  const world = await World.open()
  await world.kubelet("-without-csi-handler")
  const registrar = world.registrar(await world.driver(), "--registration-attempts=1")

  const text = "RegisterPlugin error -- no handler registered for plugin type: CSIPlugin at socket"
  expect(await registrar.refused()).toContain(`${text} ${registrar.socket}`)
  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(lastLine(registrar)).toContain(`${text} ${registrar.socket}`)
})

it("a second socket for a registered driver is refused, and the first stays registered", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const driver = await world.driver()
  const first = world.registrar(driver)
  await first.accepted()
  await mkdir(join(world.registry, "other"))
  const second = world.registrar(
    driver,
    `--plugin-registration-path=${join(world.registry, "other")}`,
    "--registration-attempts=1"
  )

  const line = await second.refused()
  expect(line).toContain("RegisterPlugin error -- plugin validation failed with err: validation failed for CSI Driver")
  expect(line).toContain("Another driver with the same name is already registered with a higher supported version")
  expect(await second.program.exited).toMatchObject({ code: 1 })
  expect(await kubelet.deregisteredDuringTwoTicks()).toEqual([])
  await kubelet.hasDrivers(driver.name)
  expect(first.program.running).toBe(true)
})

it("a driver that dies after it has told its name is refused, and registered when it is back", async () => {
  const world = await World.open()
  const driver = await world.driver()
  const registrar = world.registrar(driver)
  await registrar.serving()
  await driver.program.kill()
  const kubelet = await world.kubelet()

  expect((await kubelet.next("plugin.refused", driver.name)).error).toContain("code = Unavailable")
  expect(await registrar.refused()).toContain("connection refused")
  await world.driver()

  await registrar.accepted()
  await kubelet.hasDrivers(driver.name)
  expect(registrar.program.running).toBe(true)
})

it("a socket that nobody listens on is dialled in vain, with the words of docs/troubleshooting.md", async () => {
  const world = await World.open()
  await putDeadSocket(join(world.registry, "old.example.com-reg.sock"), join(world.root, "aside"))
  const kubelet = await world.kubelet()

  const symptom = rows.find(({ fault }) => fault === "stale-sockets")?.symptom
  const [, text = ""] = /`(.+)`/.exec(symptom ?? "") ?? []
  expect(text).not.toBe("")
  expect(await kubelet.failedOperation()).toContain(text)
})
