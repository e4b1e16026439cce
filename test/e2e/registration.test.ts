/**
 * Claim: a driver is announced by one new socket, mode 0700 whatever the umask, on a server that already answers; the kubelet's calls are answered
 * and logged in upstream's words; and nothing is left after the end.
 */
import * as fs from "node:fs"

import { expect } from "vitest"

import { identityOf } from "../fakes/peers/sockets.ts"
import { said } from "./Registrar.ts"
import { driverName, endpoint, it, socketName } from "./World.ts"

const info = { type: "CSIPlugin", name: driverName, endpoint, supported_versions: ["1.0.0"] }

it("tells the kubelet who the driver is, takes its yes, and ends without a trace", async ({ world }) => {
  await world.driver()
  const watch = world.watch()
  const registrar = await world.announced()
  const kubelet = world.kubelet()

  expect(await kubelet.getInfo()).toEqual(info)
  expect(await kubelet.notify(true)).toEqual({})
  await registrar.says(said.registered)

  expect(world.visible()).toEqual([socketName])
  expect(await watch.counts()).toEqual({ [socketName]: 1 })
  expect(await registrar.end()).toMatchObject({ code: 0, signal: null })
  expect(world.entries()).toEqual([])
  expect(await watch.counts()).toEqual({ [socketName]: 2 })
})

it("logs a healthy life in klog's form and upstream's words", async ({ world }) => {
  await world.driver()
  const registrar = await world.announced("--v=5")
  await world.accepts(registrar)
  await registrar.end()

  expect(registrar.messages.filter((message) => message !== said.transition)).toEqual([
    said.version,
    "Running node-driver-registrar",
    "Skipping HTTP server",
    "Attempting to open a gRPC connection",
    "Connecting",
    "Calling CSI driver to discover driver name",
    "GRPC call",
    "GRPC response",
    "CSI driver name",
    "Starting Registration Server",
    said.started,
    said.asked,
    "Received NotifyRegistrationStatus call",
    said.registered,
    said.stopping
  ])
  const values = (message: string) => registrar.lines.find((line) => line.includes(`"${message}"`))?.split('" ')[1]
  expect(values("CSI driver name")).toBe(`csiDriverName="${driverName}"`)
  expect(values(said.started)).toBe(`socketPath="${world.socket}"`)
  expect(values("Received NotifyRegistrationStatus call")).toBe('status="plugin_registered:true"')
})

it.for([0o022, 0o000])("the socket has mode 0700 under umask %o, which stays as it was", async (umask, { world }) => {
  await world.driver()
  // A child inherits the umask of the moment.
  const own = process.umask(umask)
  const registrar = world.registrar()
  process.umask(own)
  await registrar.says(said.started)

  expect(fs.lstatSync(world.socket).mode & 0o7777).toBe(0o700)
  const status = fs.readFileSync(`/proc/${registrar.program.pid}/status`, "utf8")
  expect(status).toMatch(new RegExp(`^Umask:\\s+0*${umask.toString(8)}$`, "m"))
})

it("repeated calls in any order are answered, and change no file", async ({ world }) => {
  await world.driver()
  const registrar = await world.registered()
  const before = identityOf(world.socket)
  const kubelet = world.kubelet()

  expect(await kubelet.notify(true)).toEqual({})
  for (let call = 0; call < 20; call++) expect(await kubelet.getInfo()).toEqual(info)
  expect(await kubelet.notify(true)).toEqual({})

  expect(identityOf(world.socket)).toBe(before)
  expect(registrar.program.running).toBe(true)
})
