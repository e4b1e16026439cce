/**
 * The peers can tell a good registrar from a bad one: with a registrar that knows its socket by name only and answers no
 * refusal, they show what every other case of this suite asserts the absence of.
 */
import { expect, it } from "vitest"

import { defaultDriver, World } from "./Harness.ts"

it("a plain registrar is registered, and deregistered after its SIGTERM", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const registrar = world.plainRegistrar(await world.driver())

  await kubelet.hasDrivers(defaultDriver)
  await registrar.accepted()

  expect(await registrar.program.stop()).toMatchObject({ code: 0 })
  await kubelet.hasDrivers()
  expect(await world.entries()).toEqual([])
})

it("the kubelet sees it when a registrar ends without an answer", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  await kubelet.refuse(1, "the node has no room")
  const registrar = world.plainRegistrar(await world.driver())

  expect(await kubelet.failedOperation()).toContain("the node has no room: rpc error: code = Unavailable")
  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(await world.entries()).toEqual([`${defaultDriver}-reg.sock`])
})

it("a plain registrar that ends takes its successor's registration away", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const driver = await world.driver()
  const first = world.plainRegistrar(driver)
  await first.accepted()
  const second = world.plainRegistrar(driver)
  await second.accepted()

  await first.program.stop()

  expect(await kubelet.deregisteredDuringTwoTicks()).toHaveLength(1)
  expect(second.program.running).toBe(true)
  await kubelet.hasDrivers()
})
