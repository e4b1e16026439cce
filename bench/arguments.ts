/** The command line: which figures, beside whom, how often, and where the results go. */
import { parseArgs } from "node:util"

import { ScriptError } from "../scripts/tools.ts"
import { usualRuns } from "./Bench.ts"
import { type FigureName, figureNames, figuresOf } from "./figures.ts"

const usualIdleMinutes = 10

export const usage = `npm run bench [-- NAME…] [-- OPTION…]

Measures dist/csi-node-driver-registrar beside an executable with an empty main. Without names: everything, which takes half an hour and
needs root for some of it. A figure that is asked for by name and cannot be measured is an error,
unless the machine was not quiet for long enough.

  --peer PATH         another registrar's executable beside it, with upstream's flags; may be repeated
  --runs N            of each (${usualRuns})
  --idle-minutes N    of the idle row (${usualIdleMinutes})
  --check             exit 1 when a "must" is not held, or a figure is missing
  --json FILE         the results with every run
  --record            the results to docs/performance/last.json, and their table to docs/performance.md

Names: ${figureNames.join(", ")}`

export interface Options {
  readonly figures: ReadonlyArray<FigureName>
  /** Somebody has asked for just these. */
  readonly named: boolean
  readonly peers: ReadonlyArray<string>
  readonly runs: number
  readonly idleMinutes: number
  readonly check: boolean
  readonly json: string | undefined
  readonly record: boolean
}

/** @throws {ScriptError} for what it does not understand. Undefined when help is asked for. */
export const optionsOf = (args: ReadonlyArray<string>): Options | undefined => {
  const { values, positionals } = parsed(args)
  if (values.help === true) return undefined
  const wrong = positionals.filter((word) => figuresOf(word).length === 0)
  if (wrong.length > 0)
    throw new ScriptError(`no such figure: ${wrong.join(", ")}; there are ${figureNames.join(", ")}`)
  const chosen = new Set(positionals.flatMap(figuresOf))
  if (values.record === true && chosen.size > 0)
    throw new ScriptError("--record is for all figures of one run: leave out the names")
  return {
    figures: figureNames.filter((name) => chosen.size === 0 || chosen.has(name)),
    named: chosen.size > 0,
    peers: values.peer ?? [],
    runs: positive("--runs", values.runs, usualRuns, Number.isInteger),
    idleMinutes: positive("--idle-minutes", values["idle-minutes"], usualIdleMinutes, Number.isFinite),
    check: values.check ?? false,
    json: values.json,
    record: values.record ?? false
  }
}

const parsed = (args: ReadonlyArray<string>) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        peer: { type: "string", multiple: true },
        runs: { type: "string" },
        "idle-minutes": { type: "string" },
        check: { type: "boolean" },
        json: { type: "string" },
        record: { type: "boolean" },
        help: { type: "boolean", short: "h" }
      }
    })
  } catch (error) {
    throw new ScriptError(error instanceof Error ? error.message : String(error))
  }
}

const positive = (flag: string, text: string | undefined, usual: number, fits: (value: number) => boolean): number => {
  const value = text === undefined ? usual : Number(text)
  if (!fits(value) || value <= 0) throw new ScriptError(`${flag} ${text}: not a number above 0 that it can be`)
  return value
}
