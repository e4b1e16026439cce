/**
 * Claim: what dead predecessors left is cleaned at the start; whatever somebody still serves, or is no socket, is left alone.
 */
import * as fs from "node:fs"
import { join } from "node:path"

import { expect } from "vitest"

import { identityOf } from "../fakes/peers/sockets.ts"
import { said } from "./Registrar.ts"
import { driverName, it, socketName } from "./World.ts"

it("dead dot-names go, live ones and those of others stay", async ({ world }) => {
  await world.driver()
  const at = (name: string) => join(world.registry, name)
  await world.deadSocket(at(".csi000000"))
  await world.deadSocket(at(".csizzzzzz"))
  await world.deadSocket(at(".s00000000"))
  await world.rival(at(".csi0live0"))
  const live = identityOf(at(".csi0live0"))
  // Not one of our dot-names: other letters, another length, a file, a kubelet's name.
  await world.deadSocket(at(".other"))
  await world.deadSocket(at(".csi0000000"))
  await world.deadSocket(at("other.csi.k8s.io-reg.sock"))
  fs.writeFileSync(at(".csi1file1"), "mine")
  fs.mkdirSync(at(".csi2dir02"))
  const others = [".csi0000000", ".csi0live0", ".csi1file1", ".csi2dir02", ".other"]

  const watch = world.watch()
  const registrar = await world.announced()

  await watch.vanish(".csi000000", ".csizzzzzz", ".s00000000")
  const sockets = [socketName, "other.csi.k8s.io-reg.sock"].sort()
  // Whatever it binds for itself meanwhile comes between them.
  expect(world.entries()).toEqual(expect.arrayContaining([...others, ...sockets]))
  expect(world.visible()).toEqual(sockets)
  expect(identityOf(at(".csi0live0"))).toBe(live)
  expect(await registrar.end()).toMatchObject({ code: 0 })
  expect(world.entries()).toEqual([...others, "other.csi.k8s.io-reg.sock"])
})

it("a registration socket that a dead predecessor left is replaced", async ({ world }) => {
  await world.driver()
  await world.deadSocket()
  const left = identityOf(world.socket)

  const registrar = await world.announced()

  expect(identityOf(world.socket)).not.toBe(left)
  expect((await world.kubelet().getInfo()).name).toBe(driverName)
  await registrar.says(said.asked)
  expect(registrar.messages).not.toContain("Took over the registration socket from another registrar")
})

it("a killed registrar leaves nothing that its successor does not clean", async ({ world }) => {
  await world.driver()
  const killed = await world.registered()
  await killed.program.kill()
  const left = world.entries().filter((name) => name !== socketName)
  const watch = world.watch()

  const successor = await world.announced()
  await watch.vanish(...left)
  await world.accepts(successor)
  await successor.end()

  expect(world.entries()).toEqual([])
})
