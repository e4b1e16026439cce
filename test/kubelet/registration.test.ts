/**
 * A driver behind our registrar is registered by real kubelet code, stays so, and is gone with it.
 */
import { execFileSync } from "node:child_process"
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { expect, it } from "vitest"

import { defaultDriver, freePort, inode, World } from "./Harness.ts"
import { tickMs } from "./Kubelet.ts"

/** A registration begins on the next tick of the plugin manager and takes it a few calls. */
const freshRegistrationMs = 1.2 * tickMs

/** A socket that replaces a registered one costs a tick more: deregistered on the first, registered on the second. */
const replacedRegistrationMs = 2.2 * tickMs

const longestName = `${"a".repeat(31)}.${"b".repeat(31)}`

it("the driver appears in the CSINode and in the node's annotation, and vanishes from both after SIGTERM", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const driver = await world.driver()
  const registrar = world.registrar(driver)

  const validated = await kubelet.next("plugin.validated")
  expect(validated).toMatchObject({ driver: driver.name, endpoint: driver.address, versions: ["1.0.0"] })
  expect(validated.at - (await inode(registrar.socket)).sinceMs).toBeLessThan(freshRegistrationMs)

  await registrar.accepted()
  const node = await kubelet.hasDrivers(driver.name)
  expect(node.drivers).toEqual([
    {
      name: driver.name,
      nodeID: driver.name,
      topologyKeys: ["io.kubernetes.storage.mock/node"],
      allocatable: { count: 7 }
    }
  ])
  expect(node.nodeIDs).toEqual({ [driver.name]: driver.name })
  const nodeGetInfo = driver.program.stdout.all.filter((line) => line.includes("/csi.v1.Node/NodeGetInfo"))
  expect(nodeGetInfo.map((line) => JSON.parse(line).code)).toEqual(["OK"])

  expect((await world.entries()).filter((name) => !name.startsWith("."))).toEqual([`${driver.name}-reg.sock`])
  expect(kubelet.all("plugin.validated")).toHaveLength(1)
  // Neither a temporary name nor a second announcement: the plugin manager has met one path.
  expect([...kubelet.watchedSockets()]).toEqual([registrar.socket])

  const exit = await registrar.program.stop()
  expect(exit).toMatchObject({ code: 0, signal: null })
  expect(await world.entries()).toEqual([])
  expect((await kubelet.next("plugin.deregistered")).at - exit.at).toBeLessThan(freshRegistrationMs)
  await kubelet.hasDrivers()
})

it("a restarted kubelet registers the same process again, and no file changes", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const registrar = world.registrar(await world.driver())
  await registrar.accepted()
  const before = await inode(registrar.socket)

  await kubelet.program.stop()
  const restarted = await world.kubelet()

  await registrar.accepted()
  await restarted.hasDrivers(defaultDriver)
  expect(registrar.program.running).toBe(true)
  expect(await inode(registrar.socket)).toEqual(before)
})

it("a socket that somebody removes is put back, and the driver registered again", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const registrar = world.registrar(await world.driver())
  await registrar.accepted()
  await kubelet.next("plugin.registered")
  const before = await inode(registrar.socket)

  await rm(registrar.socket)

  await kubelet.next("plugin.deregistered")
  await kubelet.next("plugin.registered")
  await registrar.accepted()
  await kubelet.hasDrivers(defaultDriver)
  // A file system may give the number of an inode to the next one, so the time tells them apart.
  expect((await inode(registrar.socket)).sinceMs).toBeGreaterThan(before.sinceMs)
  expect(registrar.program.running).toBe(true)
})

it("the socket of a killed predecessor is replaced: deregistered, and registered on the next tick", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const driver = await world.driver()
  const predecessor = world.plainRegistrar(driver)
  await predecessor.accepted()
  await kubelet.next("plugin.registered")
  await predecessor.program.kill()

  const registrar = world.registrar(driver)

  await kubelet.next("plugin.deregistered")
  const registered = await kubelet.next("plugin.registered")
  expect(registered.at - (await inode(registrar.socket)).sinceMs).toBeLessThan(replacedRegistrationMs)
  await registrar.accepted()
})

it("two drivers in one folder are both registered", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const first = world.registrar(await world.driver("first.csi.k8s.io"))
  const second = world.registrar(await world.driver("second.csi.k8s.io"))

  await Promise.all([first.accepted(), second.accepted()])
  await kubelet.hasDrivers("first.csi.k8s.io", "second.csi.k8s.io")

  await first.program.stop()
  await kubelet.hasDrivers("second.csi.k8s.io")
})

it("a driver whose name has 63 characters is registered, under a root as long as /var/lib/kubelet", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  const registrar = world.registrar(await world.driver(longestName))
  expect(registrar.socket).toHaveLength(106)

  await registrar.accepted()

  await kubelet.hasDrivers(longestName)
})

it("a registration socket's path of more than 107 bytes is an error that names the limit", async () => {
  const world = await World.open()
  const driver = await world.driver(longestName)
  const folder = join(world.registry, "x")
  await mkdir(folder)
  const registrar = world.registrar(driver, `--plugin-registration-path=${folder}`)

  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(registrar.program.stderr.all.join("\n")).toContain("107")
  expect(await world.entries()).toEqual(["x"])
})

it("a regular file at the socket's path is an error, and is left alone", async () => {
  const world = await World.open()
  const driver = await world.driver()
  await writeFile(join(world.registry, `${driver.name}-reg.sock`), "mine")
  const registrar = world.registrar(driver)

  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(await readFile(registrar.socket, "utf8")).toBe("mine")
  expect(await world.entries()).toEqual([`${driver.name}-reg.sock`])
})

it("the socket has mode 0700 under any umask, which is put back", async () => {
  const world = await World.open()
  const driver = await world.driver()
  // A child inherits the umask of the moment.
  const umask = process.umask(0o022)
  const registrar = world.registrar(driver)
  process.umask(umask)

  await registrar.serving()

  expect((await stat(registrar.socket)).mode & 0o777).toBe(0o700)
  expect(execFileSync("grep", ["Umask", `/proc/${registrar.program.pid}/status`], { encoding: "utf8" })).toMatch(/0022/)
})

it("readiness and health follow the kubelet's yes", async () => {
  const world = await World.open()
  const port = await freePort()
  const registrar = world.registrar(await world.driver(), `--http-endpoint=127.0.0.1:${port}`)
  const status = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status

  await registrar.serving()
  expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 503])

  await world.kubelet()
  await registrar.accepted()
  expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 200])
})
