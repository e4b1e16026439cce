/**
 * Claim: functions of a profile get the names, files and lines of the source, whether the bundle or the executable was profiled; what has no source stays
 * as it is, and a build of another commit is refused.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type Profiler, Session } from "node:inspector"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { Script } from "node:vm"

import { build } from "rolldown"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { pieceSource } from "../../scripts/binary/Pieces.ts"
import { symbolize } from "../../scripts/symbolize.ts"
import { cpuProfile } from "../../src/services/http/pprof/cpuProfile.ts"
import { encodeProfile } from "../../src/services/http/pprof/Profile.ts"
import { release } from "../../src/version.ts"
import { readProfile } from "../services/http/pprof/readProfile.ts"

const program = `
export const commit = "${release.commit}"
const beyondLatin1 = "→ → →"
export class Counter {
  constructor() {
    burn(beyondLatin1.length)
  }
  count(): void {
    burn(beyondLatin1.length)
  }
}
const assigned = function (): void {
  new Counter().count()
}
export const burn = (ms: number): void => {
  const until = performance.now() + ms * 20
  while (performance.now() < until);
}
export function declared(): void {
  assigned()
}
declared()
`

const folder = mkdtempSync(join(tmpdir(), "symbolize-"))
const main = join(folder, "main.cjs")

beforeAll(async () => {
  writeFileSync(join(folder, "program.ts"), program)
  await build({
    input: join(folder, "program.ts"),
    cwd: folder,
    output: { file: main, format: "cjs", minify: true, sourcemap: true }
  })
})
afterAll(() => rmSync(folder, { recursive: true }))

const profileOf = (run: () => void): Buffer => {
  const session = new Session()
  session.connect()
  let profile: Profiler.Profile | undefined
  session.post("Profiler.enable")
  session.post("Profiler.start")
  run()
  session.post("Profiler.stop", (_, result) => {
    profile = result.profile
  })
  session.disconnect()
  assert.isDefined(profile)
  return gzipSync(encodeProfile(cpuProfile(profile!, 1_000, 0)))
}

const asBundle = () => createRequire(main)(main)
const asExecutable = () =>
  new Script(pieceSource(readFileSync(main, "utf8")), { filename: "main.cjs" }).runInThisContext()({})

describe.each([
  ["the bundle", asBundle],
  ["the executable", asExecutable]
])("%s", (_, run) => {
  it("has the names and places of the source", async () => {
    const named = readProfile(gunzipSync(await symbolize(profileOf(run), folder)))
    const stacks = named.samples.map(({ stack }) => stack.filter(({ file }) => basename(file) === "program.ts"))
    const lines = program.split("\n")
    const names = new Set(stacks.flat().map(({ name }) => name))

    assert.isAbove(stacks.length, 0)
    for (const wanted of ["burn", "count", "assigned", "declared", "Counter"])
      assert.include(
        [...names].map((name) => name.split(" ")[0]),
        wanted
      )
    for (const { name, line, column } of stacks.flat()) {
      assert.include(name, `/program.ts:${line}:${column}`)
      assert.isDefined(lines[line - 1]?.[column - 1])
    }
    const burn = stacks.flat().find(({ name }) => name.startsWith("burn "))
    assert.include(lines[(burn?.line ?? 0) - 1], "burn = ")
  })
})

it("what has no source stays as it is", async () => {
  const profile = profileOf(() => JSON.parse(JSON.stringify(Array.from({ length: 1_000_000 }, (_, i) => i))))
  const before = readProfile(gunzipSync(profile))
  assert.deepStrictEqual(readProfile(gunzipSync(await symbolize(profile, folder))).samples, before.samples)
})

it("a build of another commit is refused", async () => {
  const other = mkdtempSync(join(folder, "other-"))
  writeFileSync(join(other, "main.cjs"), "`another`")
  let reason: unknown
  await symbolize(
    profileOf(() => {}),
    other
  ).catch((error) => {
    reason = error.message
  })
  assert.equal(reason, `${other} is not built from the profile's commit: ${release.commit}`)
})
