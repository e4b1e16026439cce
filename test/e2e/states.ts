/** Ways to bring a registrar into each state of its life in which it stays long enough to be looked at. */
import * as fs from "node:fs"

import { type Registrar, said } from "./Registrar.ts"
import { type World, socketName } from "./World.ts"

export type HeldState = keyof typeof states

/** Each answers with a registrar that is in that state, and says when it is. */
export const states = {
  connecting: async (world: World, ...flags: ReadonlyArray<string>): Promise<Registrar> => {
    const registrar = world.registrar(...flags)
    await registrar.says(said.waiting)
    return registrar
  },
  /** The rest before the second replacement of a lost socket: 1 s. */
  identified: async (world: World, ...flags: ReadonlyArray<string>): Promise<Registrar> => {
    await world.driver()
    const watch = world.watch()
    const registrar = await world.announced(...flags)
    await watch.appears(socketName)
    fs.rmSync(world.socket)
    await registrar.says(said.started)
    fs.rmSync(world.socket)
    await registrar.says(`${said.removed}" csiDriverName="mock.csi.k8s.io" losses=2`)
    return registrar
  },
  listening: async (world: World, ...flags: ReadonlyArray<string>): Promise<Registrar> => {
    await world.driver()
    return world.announced(...flags)
  },
  awaitingKubelet: async (world: World, ...flags: ReadonlyArray<string>): Promise<Registrar> => {
    const registrar = await states.listening(world, ...flags)
    const kubelet = world.kubelet()
    await kubelet.getInfo()
    await registrar.says(said.asked)
    return registrar
  },
  registered: async (world: World, ...flags: ReadonlyArray<string>): Promise<Registrar> => {
    await world.driver()
    return world.registered(...flags)
  },
  refused: async (world: World, ...flags: ReadonlyArray<string>): Promise<Registrar> => {
    const registrar = await states.listening(world, ...flags)
    await world.refuses(registrar, "the node has no room")
    return registrar
  },
  displaced: async (world: World, ...flags: ReadonlyArray<string>): Promise<Registrar> => {
    const registrar = await states.registered(world, ...flags)
    await world.rival()
    await registrar.says(said.displaced)
    return registrar
  }
}
