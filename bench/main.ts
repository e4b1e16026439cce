// Figures of the shipped executable, beside an empty one and other registrars, from one run: `npm run bench -- --help`.
import { writeFileSync } from "node:fs"

import { script } from "../scripts/tools.ts"
import { type Options, optionsOf, usage } from "./arguments.ts"
import type { Bench } from "./Bench.ts"
import { type Candidate, empty, ours, peers } from "./candidates.ts"
import { figureNames } from "./figures.ts"
import { executableAt, machineNow } from "./machine.ts"
import { isRoot } from "./needRoot.ts"
import { inOwnNamespace, isOwnNamespace } from "./ownNamespace.ts"
import { record } from "./page.ts"
import { broken, missing, Recorder, type Results } from "./results.ts"
import { subjects } from "./subjects/all.ts"
import { headLines, reasonLines, tableOf } from "./table.ts"
import { reasonOf } from "./turns.ts"
import { rule } from "./waiting.ts"

const warn = (line: string) => console.error(line)

const executablesOf = async (candidates: ReadonlyArray<Candidate>) => {
  const found = candidates.map(async ({ name, command: [file = ""] }) => [name, await executableAt(file)] as const)
  return Object.fromEntries(await Promise.all(found))
}

const measured = async ({ figures, runs, idleMinutes, peers: paths }: Options): Promise<Results> => {
  const machine = machineNow()
  const bench: Bench = {
    ours: ours(),
    peers: peers(paths),
    empty: await empty(),
    runs,
    idleMinutes,
    recorder: new Recorder(),
    warn
  }
  for (const subject of subjects) {
    const wanted = subject.figures.filter((figure) => figures.includes(figure))
    if (wanted.length === 0) continue
    warn(`measuring ${wanted.join(", ")} …`)
    try {
      await subject.measure(bench)
    } catch (error) {
      for (const figure of subject.figures) bench.recorder.cannot(figure, bench.ours.name, reasonOf(error))
    }
  }
  const rows = figureNames.filter((name) => figures.includes(name)).map((name) => [name, bench.recorder.row(name)])
  return {
    at: new Date().toISOString(),
    machine,
    runs,
    idleMinutes,
    rule,
    executables: await executablesOf([bench.ours, ...bench.peers]),
    rows: Object.fromEntries(rows)
  }
}

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2))
  if (options === undefined) return console.log(usage)
  if (isRoot() && !isOwnNamespace()) {
    process.exitCode = await inOwnNamespace()
    return
  }
  endBySignals()
  const results = await measured(options)
  console.log([...headLines(results), "", tableOf(results), "", ...reasonLines(results)].join("\n"))
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`)
  if (options.record) record(results)
  const failed = [
    ...(options.check || options.named ? missing(results, !options.check) : []),
    ...(options.check ? broken(results).map((line) => `not held: ${line}`) : [])
  ]
  for (const line of failed) console.error(line)
  if (failed.length > 0) process.exitCode = 1
}

/** What atEnd has is removed on the way out. */
const endBySignals = () => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129]
  ] as const) {
    process.once(signal, () => process.exit(code))
  }
}

await script(main)
