/**
 * Claim: whatever clients do to the registration socket, the kubelet is served on, the state stays, and no memory is kept: a round of
 * abuse leaves no more than the one before. And none of them delays the end.
 */
import * as fs from "node:fs"

import { status } from "@grpc/grpc-js"
import { expect } from "vitest"

import { garbage, halfPreface, http1Request, isCutOff, leaves, lingers, sendsMessage } from "../fakes/peers/hostile.ts"
import { Http } from "./Http.ts"
import { anonymousMiB, keptByEach, measured } from "./memory.ts"
import { type Registrar, said } from "./Registrar.ts"
import { bundleOnly, driverName, it, promptMs, preloads, type World } from "./World.ts"

const connections = 20
const calls = 1_000
const idle = 200
const each = 20
const large = 20
const tooLargeBytes = 5 * 1024 * 1024
const rounds = 6
/** Of the messages that are too large alone, 100 MiB go through in a round. */
const keptMiB = 1

const times = <A>(count: number, make: (index: number) => Promise<A>): Promise<Array<A>> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

/** Those that stay: silent ones, and ones that stop within the preface. */
const crowd = async (world: World) => [
  ...(await times(idle, () => lingers(world.socket, ""))),
  ...(await times(each, () => lingers(world.socket, halfPreface)))
]

const abuse = async (world: World) => {
  const staying = await crowd(world)
  const kubelets = Array.from({ length: connections }, () => world.kubelet())
  await times(calls, async (index) => {
    const kubelet = kubelets[index % connections] ?? world.kubelet()
    if (index % 2 === 0) expect((await kubelet.getInfo()).name).toBe(driverName)
    else expect(await kubelet.notify(true)).toEqual({})
  })
  await times(each, () => isCutOff(world.socket, garbage(1_024)))
  await times(each, () => isCutOff(world.socket, http1Request))
  for (let message = 0; message < large; message++) {
    expect((await sendsMessage(world.socket, tooLargeBytes)).code).toBe(status.RESOURCE_EXHAUSTED)
  }
  for (const kubelet of kubelets) kubelet.close()
  await Promise.all(staying.map(leaves))
}

/** What a long life has seen: malloc's heap has its size, and a round of abuse finds it as it will be. */
const everyday = async (world: World) => {
  for (let turn = 0; turn < 2; turn++) {
    const kubelets = Array.from({ length: connections }, () => world.kubelet())
    await times(calls, (index) => (kubelets[index % connections] ?? world.kubelet()).getInfo())
    for (const kubelet of kubelets) kubelet.close()
  }
}

const descriptors = ({ program }: Registrar) => fs.readdirSync(`/proc/${program.pid}/fd`).length

/** What is left once the registrar has seen that everybody has gone; a call that is answered is a turn of its loop. */
const settled = async (world: World, registrar: Registrar, before: number): Promise<number> => {
  for (let turn = 0; turn < 100 && descriptors(registrar) > before; turn++) {
    const kubelet = world.kubelet()
    await kubelet.getInfo()
    kubelet.close()
  }
  return descriptors(registrar)
}

it.skipIf(!preloads)(`rounds of abuse: served on, no descriptor and no memory kept${bundleOnly}`, async ({ world }) => {
  await world.driver()
  world.wrapper = measured
  const http = await Http.open()
  const registrar = await world.registered(http.flag)
  await everyday(world)
  const before = descriptors(registrar)
  const afterRound: Array<number> = []

  for (let round = 0; round < rounds; round++) {
    await abuse(world)
    expect(await settled(world, registrar, before)).toBeLessThanOrEqual(before)
    afterRound.push(await anonymousMiB(registrar))
    expect(await http.get("/healthz")).toBe("200 ok")
    expect(await http.get("/readyz")).toBe("200 ok")
  }

  expect(keptByEach(afterRound)).toBeLessThanOrEqual(keptMiB)
  expect(registrar.lines.filter((line) => line.startsWith("E"))).toEqual([])
})

it("a client that is out of bounds is told what upstream tells it", async ({ world }) => {
  await world.driver()
  await world.announced()

  expect((await sendsMessage(world.socket, tooLargeBytes)).details).toMatch(/received message larger than max/i)
})

it("a crowd that stays connected does not delay the end", async ({ world }) => {
  await world.driver()
  const registrar = await world.registered()
  const kubelets = Array.from({ length: connections }, () => world.kubelet())
  await Promise.all(kubelets.map((kubelet) => kubelet.getInfo()))
  const staying = await crowd(world)

  const { code, tookMs } = await registrar.end()

  expect(code).toBe(0)
  expect(tookMs).toBeLessThanOrEqual(promptMs)
  expect(world.entries()).toEqual([])
  expect(registrar.messages.at(-1)).toBe(said.stopping)
  await Promise.all(staying.map(leaves))
})
