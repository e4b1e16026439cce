// Runs the pieces in FOLDER, and when the program ends leaves the code cache of each beside it: what has run by then needs no compiler any more.
//
//   node FLAGS… scripts/binary/warmUp.ts FOLDER ARGS…
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import * as v8 from "node:v8"
import type { Script } from "node:vm"

import { cacheOf, pieces } from "./Pieces.ts"

const [folder = ""] = process.argv.splice(2, 1)
v8.setFlagsFromString("--no-flush-bytecode")
const scripts = new Map<string, Script>()

const exit = process.exit
process.exit = (code) => {
  v8.setFlagsFromString("--flush-bytecode")
  for (const [name, script] of scripts) writeFileSync(join(folder, cacheOf(name)), script.createCachedData())
  return exit(code)
}

pieces(
  (name) => ({ source: readFileSync(join(folder, name), "latin1") }),
  createRequire(import.meta.url),
  (name, script) => scripts.set(name, script)
)("./main.cjs")
