// Fails when dist/main.cjs has outgrown its budget, or when a library got in that costs start-up time for nothing. Run the build first.
//
//   node scripts/budget.ts [META]
import { readFileSync } from "node:fs"
import { join } from "node:path"

import type { Meta } from "./build.ts"

const budgetKiB = 640
const biggest = 15
/** A name or two of a forbidden library may come along with what we do use: FileSystem names Stream in its watch. */
const traceKiB = 4

const forbidden: ReadonlyArray<readonly [what: string, module: RegExp, instead: string]> = [
  ["effect/Schema", /\/effect\/dist\/(internal\/)?schema/i, "use Data.TaggedError and plain types"],
  ["effect/Stream", /\/effect\/dist\/(internal\/)?stream/i, "use a Queue or a callback"],
  ["effect/http", /\/effect\/dist\/(internal\/)?http/i, "use node:http"],
  ["effect/cli", /\/effect\/dist\/(internal\/)?cli/i, "use services/flags"],
  ["protobufjs", /\/protobufjs\//, "use the codecs in proto/generated"],
  ["proto-loader", /\/@grpc\/proto-loader\//, "use the codecs in proto/generated"]
]

/** What is wrong with a bundle, a line each; nothing if it may ship. */
export const violations = ({ bytes, modules }: Meta): ReadonlyArray<string> => [
  ...(bytes > budgetKiB * 1024 ? [`${kib(bytes)} are over the budget of ${budgetKiB} KiB`] : []),
  ...forbidden.flatMap(([what, pattern, instead]) => {
    const found = modules.filter(({ name }) => pattern.test(name))
    const total = found.reduce((sum, { bytes }) => sum + bytes, 0)
    return total > traceKiB * 1024
      ? [`${what} is in it (${found.length} modules, ${kib(total)} before minification): ${instead}`]
      : []
  })
]

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`
}

if (import.meta.main) {
  const file = process.argv[2] ?? join(import.meta.dirname, "../dist/meta.json")
  const meta: Meta = JSON.parse(readFileSync(file, "utf8"))
  console.log(
    `${kib(meta.bytes)} of ${budgetKiB} KiB; the biggest of ${meta.modules.length} modules, before minification:`
  )
  for (const { name, bytes } of meta.modules.slice(0, biggest)) console.log(`${kib(bytes).padStart(12)}  ${name}`)
  const problems = violations(meta)
  for (const problem of problems) console.error(`over budget: ${problem}`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
