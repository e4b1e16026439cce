/**
 * Two registrars of one driver on one path, as in a rolling update with surge: the newest is heard, and whichever of the
 * two ends, the driver is registered in the end.
 */
import { expect, it } from "vitest"

import { inode, World } from "./Harness.ts"

/** A displaced registrar sees it at once when the rival's socket goes ... */
const announcedAgainMs = 1_000
/** ... and at its next look, or the one after, when the rival is dead and its socket is not. */
const announcedAfterDeathMs = 3_000

it("ours after ours: the new one is registered, and stays so when the old one ends", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const driver = await world.driver()
  const old = world.registrar(driver)
  await old.accepted()
  const successor = world.registrar(driver)
  await successor.accepted()
  const socket = await inode(successor.socket)

  expect(await old.program.stop()).toMatchObject({ code: 0 })

  expect(await kubelet.deregisteredDuringTwoTicks()).toEqual([])
  await kubelet.hasDrivers(driver.name)
  expect(await inode(successor.socket)).toEqual(socket)
  expect(successor.program.running).toBe(true)
})

it("ours after ours: the old one announces again when the new one ends", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const driver = await world.driver()
  const old = world.registrar(driver)
  await old.accepted()
  const successor = world.registrar(driver)
  await successor.accepted()

  const { at, code } = await successor.program.stop()

  expect(code).toBe(0)
  await old.accepted()
  await kubelet.hasDrivers(driver.name)
  expect((await inode(old.socket)).sinceMs - at).toBeLessThan(announcedAgainMs)
})

it("ours after a plain one: heals when the plain one ends and takes the socket's name away", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const driver = await world.driver()
  const plain = world.plainRegistrar(driver)
  await plain.accepted()
  const registrar = world.registrar(driver)
  await registrar.accepted()

  const { at } = await plain.program.stop()

  await registrar.accepted()
  await kubelet.hasDrivers(driver.name)
  expect((await inode(registrar.socket)).sinceMs - at).toBeLessThan(announcedAgainMs)
  expect(registrar.program.running).toBe(true)
})

it("a plain one after ours: ours touches nothing, and announces again when the plain one ends", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const driver = await world.driver()
  const registrar = world.registrar(driver)
  await registrar.accepted()
  const plain = world.plainRegistrar(driver)
  await plain.accepted()
  const socket = await inode(plain.socket)

  expect(await kubelet.deregisteredDuringTwoTicks()).toEqual([])
  expect(await inode(plain.socket)).toEqual(socket)
  expect(registrar.program.running).toBe(true)

  const { at } = await plain.program.stop()
  await registrar.accepted()
  await kubelet.hasDrivers(driver.name)
  expect((await inode(registrar.socket)).sinceMs - at).toBeLessThan(announcedAgainMs)
})

it("a plain one after ours: ours announces again when the plain one is killed and its socket stays", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const driver = await world.driver()
  const registrar = world.registrar(driver)
  await registrar.accepted()
  const plain = world.plainRegistrar(driver)
  await plain.accepted()

  const { at } = await plain.program.kill()

  await registrar.accepted()
  await kubelet.hasDrivers(driver.name)
  expect((await inode(registrar.socket)).sinceMs - at).toBeLessThan(announcedAfterDeathMs)
})

it("a displaced registrar ends without a trace, and the winner stays registered", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const driver = await world.driver()
  const registrar = world.registrar(driver)
  await registrar.accepted()
  const plain = world.plainRegistrar(driver)
  await plain.accepted()
  const socket = await inode(plain.socket)

  expect(await registrar.program.stop()).toMatchObject({ code: 0 })

  expect(await kubelet.deregisteredDuringTwoTicks()).toEqual([])
  expect(await inode(plain.socket)).toEqual(socket)
  expect(await world.entries()).toEqual([`${driver.name}-reg.sock`])
  await kubelet.hasDrivers(driver.name)
})
