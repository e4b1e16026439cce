// Claim: with arguments of its own, `npm start` is the registrar itself: its output, its signals, its exit code, and nothing else.
// World: the playground as a child process.
import { expect, it } from "vitest"

import { release, version } from "../../src/version.ts"
import { Playground } from "./Playground.ts"

const limitMs = 25_000

it("prints the version", { timeout: limitMs }, async () => {
  const playground = Playground.start("--version")
  expect(await playground.ended).toBe(0)
  expect(playground.lines.all[0]).toContain(version)
  expect(playground.lines.all.at(-1)).toContain(release.compatible)
})

it("has the exit code of the registrar", { timeout: limitMs }, async () => {
  const playground = Playground.start("--no-such-flag")
  expect(await playground.ended).toBe(2)
  expect(playground.stderr).toContain("flag provided but not defined: -no-such-flag")
})

it("passes a signal on, and waits for the registrar's end", { timeout: limitMs }, async () => {
  const playground = Playground.start(
    "--csi-address=/nowhere/csi.sock",
    "--kubelet-registration-path=/x",
    "--log-text-split-stream"
  )
  await playground.says("Waiting for the CSI driver")
  playground.signal("SIGTERM")
  expect(await playground.ended).toBe(0)
  await playground.says('"Stopping" signal="SIGTERM"')
})
