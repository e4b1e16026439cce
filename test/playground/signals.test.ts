// Claim: the playground can be broken off at any moment and leaves no process and no file; its exit code tells the signal.
// World: the playground as a child process, sent a signal when it has printed a line.
import { expect, it } from "vitest"

import { Playground } from "./Playground.ts"

const limitMs = 25_000

it.concurrent.for([
  ["SIGINT", 130, "starts as process"],
  ["SIGTERM", 143, "is connecting"],
  ["SIGINT", 130, "asks GetInfo"],
  ["SIGHUP", 129, "2. The kubelet restarts"],
  ["SIGINT", 130, "somebody deletes"],
  ["SIGTERM", 143, "Registration was refused"],
  ["SIGINT", 130, "second     starts as process"],
  ["SIGINT", 130, "registrar  is displaced"],
  ["SIGINT", 130, "the second one is told to leave"]
] as const)("leaves nothing after %s, exit %i, at: %s", { timeout: limitMs }, async ([signal, code, line]) => {
  const playground = new Playground()
  try {
    await playground.says(line)
    playground.signal(signal)
    expect(await playground.ended).toBe(code)
    expect(playground.leftOvers()).toEqual([])
  } finally {
    await playground.close()
  }
})

it("leaves nothing when it is interrupted twice", { timeout: limitMs }, async () => {
  const playground = Playground.start()
  await playground.says("3. Somebody deletes")
  playground.signal("SIGINT")
  playground.signal("SIGTERM")
  expect([130, 143]).toContain(await playground.ended)
  expect(playground.leftOvers()).toEqual([])
})

it("leaves nothing when nobody reads its output any more", { timeout: limitMs }, async () => {
  const playground = Playground.start()
  await playground.says("1. The driver comes late")
  playground.stopReading()
  expect(await playground.ended).toBe(141)
  expect(playground.leftOvers()).toEqual([])
})
