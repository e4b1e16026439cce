// Runs the pieces in FOLDER, and when the program ends leaves beside each which of its functions have run: NAME.ran, a list of Ranges.
//
//   node scripts/binary/ran.ts FOLDER ARGS…
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"

import { inspector } from "./inspector.ts"
import { pieces, type Range, ranOf } from "./Pieces.ts"

interface Coverage {
  readonly result: ReadonlyArray<{
    readonly url: string
    readonly functions: ReadonlyArray<{
      readonly ranges: ReadonlyArray<{
        readonly startOffset: number
        readonly endOffset: number
        readonly count: number
      }>
    }>
  }>
}

const [folder = ""] = process.argv.splice(2, 1)
const names = new Set<string>()
const { ask } = inspector()
ask("Profiler.enable")
ask("Profiler.startPreciseCoverage", { callCount: false, detailed: false })

const exit = process.exit
process.exit = (code) => {
  const { result } = ask("Profiler.takePreciseCoverage") as Coverage
  for (const { url, functions } of result) {
    if (!names.has(url)) continue
    const ran = functions.flatMap(
      ({ ranges: [range] }): ReadonlyArray<Range> =>
        range !== undefined && range.count > 0 ? [[range.startOffset, range.endOffset]] : []
    )
    writeFileSync(join(folder, ranOf(url)), JSON.stringify(ran))
  }
  return exit(code)
}

pieces(
  (name) => ({ source: readFileSync(join(folder, name), "latin1") }),
  createRequire(import.meta.url),
  (name) => names.add(name)
)("./main.cjs")
