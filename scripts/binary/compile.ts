// Compiles the piece NAME in FOLDER with those of its functions that NAME.ran lists, and leaves the code cache of both beside it: NAME.cache.
//
// A cache taken from the run itself would differ from run to run, by the order in which its functions were compiled. Here that order is the source's.
//
//   node FLAGS… scripts/binary/compile.ts FOLDER NAME
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Script } from "node:vm"

import { compileRanges } from "./compileRanges.ts"
import { cacheOf, type Range, ranOf } from "./Pieces.ts"

const [, , folder = "", name = ""] = process.argv
const source = readFileSync(join(folder, name), "latin1")
const ran: ReadonlyArray<Range> = JSON.parse(readFileSync(join(folder, ranOf(name)), "utf8"))

const script = new Script(source, { filename: name })
// Makes the function; its body does not run.
script.runInThisContext()

compileRanges(name, source, ran)
writeFileSync(join(folder, cacheOf(name)), script.createCachedData())
