/**
 * Claim: log lines go to the streams that were asked for, error lines at once and info lines no later than was asked for; and nothing that happens to
 * those streams stops the registrar.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"

import { describe, expect } from "vitest"

import { said } from "./Registrar.ts"
import { driverName, endpoint, it, socketName, type World } from "./World.ts"

/** A registrar that is accepted, then refused. */
const openRefused = async (world: World, ...flags: ReadonlyArray<string>) => {
  await world.driver()
  const watch = world.watch()
  const registrar = world.registrar(...flags)
  await watch.appears(socketName)
  const kubelet = world.kubelet()
  await kubelet.notify(true)
  await kubelet.notify(false, "no room")
  await registrar.says(said.refused)
  return registrar
}

describe.for(["text", "json"])("as %s", (format) => {
  const isError = (line: string) => (format === "text" ? line.startsWith("E") : !("v" in JSON.parse(line)))
  const messageOf = (line: string): string =>
    format === "text" ? (/\] "([^"]*)"/.exec(line)?.[1] ?? "") : JSON.parse(line).msg

  it("split streams: info lines to stdout, error lines to stderr", async ({ world }) => {
    const registrar = await openRefused(world, `--logging-format=${format}`, `--log-${format}-split-stream`)
    await registrar.end()

    const { stdout, stderr } = registrar.program
    expect(stderr.all.map(messageOf)).toEqual([said.refused])
    expect(stderr.all.every(isError)).toBe(true)
    expect(stdout.all.some(isError)).toBe(false)
    expect(stdout.all.map(messageOf)).toEqual(
      expect.arrayContaining([said.version, said.started, said.registered, said.stopping])
    )
  })

  it("an info buffer holds them until it is time, an error comes, or the end", async ({ world }) => {
    await world.driver()
    const out = join(world.root, "out")
    world.wrapper = ["sh", "-c", 'out=$0; exec "$@" >"$out"', out]
    const watch = world.watch()
    const buffered = [
      `--logging-format=${format}`,
      `--log-${format}-split-stream`,
      `--log-${format}-info-buffer-size=64Ki`,
      "--log-flush-frequency=2562047h"
    ]
    const written = () => fs.readFileSync(out, "utf8").split("\n").slice(0, -1).map(messageOf)
    const registrar = world.registrar(...buffered)
    await watch.appears(socketName)
    const kubelet = world.kubelet()
    await kubelet.notify(true)
    expect(written()).toEqual([])

    await kubelet.notify(false, "no room")
    await registrar.says(said.refused)
    expect(written()).toEqual(expect.arrayContaining([said.version, said.registered]))
    expect(written()).not.toContain(said.stopping)

    await registrar.end()
    expect(written().at(-1)).toBe(said.stopping)
  })

  it("an info buffer is written out after the time that was asked for", async ({ world }) => {
    await world.driver()
    const registrar = world.registrar(
      `--logging-format=${format}`,
      `--log-${format}-split-stream`,
      `--log-${format}-info-buffer-size=64Ki`,
      "--log-flush-frequency=50ms"
    )

    // Nothing but the time makes it come: there is no error, and no end.
    const line = await registrar.program.stdout.next(said.started, (line) => line.includes(said.started))
    expect(messageOf(line)).toBe(said.started)
  })
})

/** Registers, and ends as it should, without a look at what it says. */
const livesOn = async (world: World, between: () => void = () => {}, ...flags: ReadonlyArray<string>) => {
  await world.driver()
  const watch = world.watch()
  const registrar = world.registrar("--v=5", ...flags)
  await watch.appears(socketName)
  between()
  const kubelet = world.kubelet()
  expect(await kubelet.getInfo()).toMatchObject({ name: driverName, endpoint })
  expect(await kubelet.notify(true)).toEqual({})
  expect(await registrar.end()).toMatchObject({ code: 0, signal: null })
  expect(world.entries()).toEqual([])
}

describe("nobody takes what it says, and it goes on", () => {
  it("stderr is full", async ({ world }) => {
    world.wrapper = ["sh", "-c", 'exec "$@" 2>/dev/full', "sh"]
    await livesOn(world)
  })

  it("stdout is full, with split streams", async ({ world }) => {
    world.wrapper = ["sh", "-c", 'exec "$@" >/dev/full', "sh"]
    await livesOn(world, () => {}, "--log-text-split-stream", "--log-text-info-buffer-size=1k")
  })

  it("the reader of stderr has gone", async ({ world }) => {
    const pipe = join(world.root, "pipe")
    expect(spawnSync("mkfifo", [pipe])).toMatchObject({ status: 0 })
    world.wrapper = ["sh", "-c", 'pipe=$0; exec "$@" 2>"$pipe"', pipe]
    const reader = fs.openSync(pipe, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)

    await livesOn(world, () => fs.closeSync(reader))
  })
})
