/**
 * What node runs to build a snapshot: loads the program from ASSETS/main.cjs, with those of its functions compiled that main.cjs.ran lists. They lie in the
 * snapshot ready to run, and nobody has called them.
 */
import { readFileSync } from "node:fs"
import { runInThisContext } from "node:vm"

import { compileRanges } from "../binary/compileRanges.ts"
import { type Range, ranOf } from "../binary/Pieces.ts"

/**
 * What node's modules load when they serve, as far as it can lie in a snapshot: each start would do it. Not cluster, which decides when it is loaded whether it
 * is a worker's, by the environment.
 */
const wanted = ["assert", "child_process", "dgram", "dns", "fs/promises"] as const

// Node gives a builder no arguments: it is run where they lie.
const name = "main.cjs"
const source = readFileSync(`assets/${name}`, "latin1")
const ran: ReadonlyArray<Range> = JSON.parse(readFileSync(`assets/${ranOf(name)}`, "utf8"))

const program: (exports: object, require: NodeJS.Require, module: object) => void = runInThisContext(source, {
  filename: name
})
compileRanges(name, source, ran)
for (const builtin of wanted) process.getBuiltinModule(builtin)
program({}, require, {})
