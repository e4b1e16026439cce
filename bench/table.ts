/** Results as a table of Markdown that is read as well on a terminal. */
import { type FigureName, figureNames, figures, type Limit } from "./figures.ts"
import { against, holds, isMeasured, type Results, type Row } from "./results.ts"
import { number } from "./statistics.ts"

const none = "–"

/** Its column is left out where no row has one. */
const candidatesOf = ({ rows }: Results): ReadonlyArray<string> => {
  const names = new Set(["ours", "empty"])
  for (const row of Object.values(rows)) for (const name of Object.keys(row)) names.add(name)
  return [...names].filter((name) => Object.values(rows).some((row) => row[name] !== undefined))
}

const cell = (row: Row, candidate: string, limits: ReadonlyArray<Limit>): string => {
  const entry = row[candidate]
  if (!isMeasured(entry)) return none
  const { median, min, max, p99, runs } = entry.summary
  const range = limits.some(({ of }) => of === "p99")
    ? `p99 ${number(p99)} (median ${number(median)}, max ${number(max)})`
    : `${number(median)} (${number(min)}–${number(max)})`
  const shown = runs === 1 ? number(median) : range
  const multiple = limits.find(({ timesEmpty }) => timesEmpty)
  return multiple === undefined || candidate === "empty"
    ? shown
    : `${shown} = ${number(against(row, candidate, multiple))} ×`
}

const limitText = (limits: ReadonlyArray<Limit>, kind: Limit["kind"]): string =>
  limits
    .filter((limit) => limit.kind === kind)
    .map(({ of, atMost, timesEmpty }) => `${of === "median" ? "" : `${of} `}≤ ${atMost}${timesEmpty ? " × empty" : ""}`)
    .join(", ")

const verdict = (row: Row, limits: ReadonlyArray<Limit>): string => {
  if (!isMeasured(row.ours)) return "not measured"
  const broken = limits.filter((limit) => !holds(row, limit))
  if (broken.some(({ kind }) => kind === "must")) return "NOT HELD"
  if (limits.length === 0) return ""
  return broken.length > 0 ? "held, not yet the aim" : "held, and the aim"
}

const lineOf = (name: FigureName, row: Row, candidates: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { unit, limits } = figures[name]
  const dropped = Object.values(row).reduce((sum, entry) => sum + (entry.dropped ?? 0), 0)
  return [
    `${name}, ${unit}`,
    ...candidates.map((candidate) => cell(row, candidate, limits)),
    limitText(limits, "must"),
    limitText(limits, "aim"),
    verdict(row, limits),
    isMeasured(row.ours) ? String(row.ours.summary.runs) : none,
    String(dropped)
  ]
}

const aligned = (lines: ReadonlyArray<ReadonlyArray<string>>): string => {
  const [head = []] = lines
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const text = (line: ReadonlyArray<string>) =>
    `| ${line.map((part, column) => part.padEnd(widths[column] ?? 0)).join(" | ")} |`
  const [first = "", ...rest] = lines.map(text)
  return [first, `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rest].join("\n")
}

/** A line for each reason why there are no figures. */
export const reasonLines = ({ rows }: Results): ReadonlyArray<string> => {
  const reasons = new Map<string, Map<string, Array<string>>>()
  for (const name of figureNames) {
    for (const [candidate, entry] of Object.entries(rows[name] ?? {})) {
      if (isMeasured(entry)) continue
      const ofCandidate = reasons.get(candidate) ?? new Map<string, Array<string>>()
      reasons.set(candidate, ofCandidate.set(entry.reason, [...(ofCandidate.get(entry.reason) ?? []), name]))
    }
  }
  return [...reasons].flatMap(([candidate, byReason]) =>
    [...byReason].map(([reason, names]) => `${none} ${candidate}: ${names.join(", ")}: ${reason}`)
  )
}

export const tableOf = (results: Results): string => {
  const candidates = candidatesOf(results)
  const head = ["figure", ...candidates, "must", "aim", "", "runs", "made again"]
  const lines = figureNames.flatMap((name) => {
    const row = results.rows[name]
    return row === undefined ? [] : [lineOf(name, row, candidates)]
  })
  return aligned([head, ...lines])
}

/** Where and when, a line each. */
export const headLines = ({ at, machine, runs, idleMinutes, executables, rule }: Results): ReadonlyArray<string> => [
  `${at}, ${Object.values(machine).join(", ")}`,
  `${runs} runs, ${idleMinutes} min idle`,
  ...Object.entries(executables).map(
    ([name, { bytes, sha256 }]) => `${name}: ${number(bytes / 1e6)} MB, sha256 ${sha256.slice(0, 12)}`
  ),
  rule
]

/** What the names of the rows mean. */
export const legend = (): string => figureNames.map((name) => `- **${name}**: ${figures[name].what}`).join("\n")
