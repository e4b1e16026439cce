// Claim: with --keep everything stays after step 1 and obeys words; the end of the input, quit and a signal leave nothing. A driver of
// one's own can take the place of the embedded one.
// World: the playground as a child process, driven through its stdin.
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, it, onTestFinished } from "vitest"

import { Driver } from "../../playground/Driver.ts"
import { Playground } from "./Playground.ts"

const limitMs = 30_000

/** Types, and waits for the first line after that with each text, in order. */
const press = async (playground: Playground, words: string, ...answers: ReadonlyArray<string>) => {
  let from = playground.lines.mark()
  playground.type(words)
  for (const answer of answers) from = playground.lines.all.indexOf(await playground.says(answer, from), from)
}

const kept = async (...flags: ReadonlyArray<string>) => {
  const playground = Playground.start("--keep", ...flags)
  await playground.says("Everything stays as it is")
  await playground.says("quit ")
  return playground
}

it("obeys every word", { timeout: limitMs }, async () => {
  const playground = await kept()
  await playground.says("✔ registered")
  await press(
    playground,
    "status",
    "driver     up",
    "registrar  registered since",
    "CSINode    demo.example.org (node-1)",
    "socket"
  )
  await press(playground, "second", "second     is registered")
  await press(playground, "second", "second     process", "registrar  is registered")
  await press(playground, "remove", "putting it back", "registrar  is registered")
  await press(playground, "refuse", "says no to demo.example.org", "says yes to demo.example.org")
  await press(playground, "restart  kubelet", "kubelet    starts", "says yes to demo.example.org")
  await press(playground, "driver down", "Lost connection to the CSI driver")
  await press(playground, "driver up", "CSI driver is back")
  await press(playground, "driver late", "registrar  process", "Waiting for the CSI driver", "registrar  is registered")
  await press(playground, "restart registrar", "exit 0", "registrar  is registered")
  await press(playground, "log", '"Running node-driver-registrar"')
  await press(playground, "help", "driver late")
  await press(playground, "dance", 'There is no button "dance"; help lists them.')
  playground.type("quit")
  expect(await playground.ended).toBe(0)
  expect(playground.leftOvers()).toEqual([])
})

it("ends when its input ends, and leaves nothing", { timeout: limitMs }, async () => {
  const playground = await kept()
  playground.endInput()
  expect(await playground.ended).toBe(0)
  expect(playground.leftOvers()).toEqual([])
})

it("ends on a signal in the middle of a word's work, and leaves nothing", { timeout: limitMs }, async () => {
  const playground = await kept()
  await press(playground, "driver late", "Waiting for the CSI driver")
  playground.signal("SIGINT")
  expect(await playground.ended).toBe(130)
  expect(playground.leftOvers()).toEqual([])
})

it("registers a driver that is not its own", { timeout: limitMs }, async () => {
  const socket = join(tmpdir(), `own-driver-${process.pid}.sock`)
  const driver = new Driver(socket, "own.example.org", "node-7")
  onTestFinished(() => driver.down())
  const playground = await kept(`--driver=${socket}`)
  await playground.says("Waiting for the CSI driver")
  await driver.up()
  await playground.says("says yes to own.example.org; the CSINode has it, with node id node-7")
  await press(playground, "driver down", "is yours: start and stop it yourself")
  playground.endInput()
  expect(await playground.ended).toBe(0)
  expect(playground.leftOvers()).toEqual([])
  expect(driver.isUp).toBe(true)
})
