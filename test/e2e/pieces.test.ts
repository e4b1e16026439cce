/** Claim: what shows how the registrar is doing is loaded by whoever asks for it: a registration needs none of these pieces of the bundle. */
import { join } from "node:path"

import { expect } from "vitest"

import { Http } from "./Http.ts"
import { states } from "./states.ts"
import { bundleOnly, it as itself, preloads, type World } from "./World.ts"

const fixture = join(import.meta.dirname, "fixtures/withoutPieces.cjs")
const it = itself.skipIf(!preloads)
const byFlag = ["diagnose.cjs", "inspector.cjs", "pprof.cjs", "probe.cjs"]

const without = (world: World, pieces: ReadonlyArray<string>) => {
  world.wrapper = ["env", `NODE_OPTIONS=--require=${fixture}`, `REGISTRAR_WITHOUT=${pieces.join(",")}`]
}

it(`without an HTTP endpoint it needs none of them${bundleOnly}`, async ({ world }) => {
  without(world, [...byFlag, "metrics.cjs"])
  const registrar = await states.registered(world)

  expect(await registrar.end()).toMatchObject({ code: 0 })
})

it(`with one it needs what is asked for by no flag${bundleOnly}`, async ({ world }) => {
  without(world, byFlag)
  const http = await Http.open()
  const registrar = await states.registered(world, http.flag)

  expect(await http.get("/metrics")).toMatch(/^200 /)
  expect(await registrar.end()).toMatchObject({ code: 0 })
})

it.for([
  ["--enable-inspector", "inspector.cjs"],
  ["--enable-pprof", "pprof.cjs"],
  ["--metrics-path=/m", "metrics.cjs"]
] as const)(`%s needs %s${bundleOnly}`, async ([flag, piece], { world }) => {
  without(world, [piece])
  const http = await Http.open()
  const registrar = world.registrar(http.flag, flag)

  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(registrar.lines.join("\n")).toContain(`${piece} is not to be loaded`)
})
