/**
 * Claim: a kubelet that says no is answered first, quoted in the log, and met with a new announcement after 1 s, then 2 s; it may also come back by
 * itself. When the attempts are used up the registrar ends as upstream does, and leaves nothing.
 */
import { expect } from "vitest"

import { identityOf } from "../fakes/peers/sockets.ts"
import { said } from "./Registrar.ts"
import { it, promptMs, socketName } from "./World.ts"

const refusal = "RegisterPlugin error -- plugin registration failed with err: the node has no room"
const firstRestMs = 1_000
const secondRestMs = 2_000
const spread = 0.2

it("is announced again after 1 s, then after 2 s, and registered when the kubelet agrees", async ({ world }) => {
  await world.driver()
  const registrar = await world.announced()
  const watch = world.watch()

  for (const restMs of [firstRestMs, secondRestMs]) {
    await world.refuses(registrar, refusal)
    const refusedAt = performance.now()
    const restedMs = (await watch.appears(socketName, refusedAt)).at - refusedAt
    // The line came a moment after the refusal.
    expect(restedMs).toBeGreaterThanOrEqual(restMs * (1 - spread) - promptMs)
    expect(restedMs).toBeLessThanOrEqual(restMs * (1 + spread) + promptMs)
    await registrar.says(said.started)
  }

  await world.accepts(registrar)
  const refusals = registrar.lines.filter((line) => line.includes(said.refused))
  expect(refusals).toHaveLength(2)
  for (const [index, line] of refusals.entries()) {
    expect(line).toMatch(/^E/)
    expect(line).toContain(`err="${refusal}" refusals=${index + 1} retryIn="`)
  }
})

it("a kubelet that comes back by itself meanwhile is enough: no new socket", async ({ world }) => {
  await world.driver()
  const registrar = await world.announced()
  const announced = identityOf(world.socket)
  const watch = world.watch()

  await world.refuses(registrar, refusal)
  await world.accepts(registrar)

  expect(await watch.events.during(firstRestMs * (1 + spread) + promptMs, () => true)).toEqual([])
  expect(identityOf(world.socket)).toBe(announced)
  expect(registrar.messages.at(-1)).toBe(said.registered)
})

it("with one attempt the refusal is answered, then exit 1 with upstream's words and nothing left", async ({
  world
}) => {
  await world.driver()
  const registrar = await world.announced("--registration-attempts=1")
  const kubelet = world.kubelet()
  await kubelet.getInfo()

  expect(await kubelet.notify(false, refusal)).toEqual({})

  expect(await registrar.program.exited).toMatchObject({ code: 1, signal: null })
  expect(registrar.lines).toContainEqual(
    expect.stringContaining(`] "Received NotifyRegistrationStatus call" status="error:\\"${refusal}\\""`)
  )
  expect(registrar.lastLine).toContain(
    `main.go:104] "Registration process failed with error, restarting registration container" err="${refusal}"`
  )
  expect(world.entries()).toEqual([])
})

it("attempts are counted anew after a yes", async ({ world }) => {
  await world.driver()
  const registrar = await world.announced("--registration-attempts=2")

  await world.refuses(registrar, "first")
  await world.accepts(registrar)
  await world.refuses(registrar, "first again")
  const kubelet = world.kubelet()
  expect(await kubelet.notify(false, "second")).toEqual({})

  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(registrar.lastLine).toContain('restarting registration container" err="second"')
  expect(world.entries()).toEqual([])
})

it("a text of many lines and odd characters is one entry of the log", async ({ world }) => {
  await world.driver()
  const registrar = await world.announced("--registration-attempts=1", "--logging-format=json")
  const text = 'a "quoted"\nline\t\u0001 and 5 % of ünïcode'

  expect(await world.kubelet().notify(false, text)).toEqual({})

  await registrar.program.exited
  expect(JSON.parse(registrar.lastLine)).toMatchObject({
    caller: "csi-node-driver-registrar/main.go:104",
    err: text
  })
})
