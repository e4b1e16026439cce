/** What came out of a run of the bench, and whether it holds. */
import { type FigureName, figureNames, figures, type Limit } from "./figures.ts"
import { number, type Summary, statisticOf, summaryOf } from "./statistics.ts"

export interface Measured {
  readonly summary: Summary
  /** Runs that were made again by the rule. */
  readonly dropped: number
  readonly values?: ReadonlyArray<number>
}

export interface NotMeasured {
  readonly reason: string
  /** Runs that were made and all dropped: the machine is at fault. */
  readonly dropped?: number
}

/** By the names of the candidates. */
export type Row = Readonly<Record<string, Measured | NotMeasured>>

export interface Results {
  readonly at: string
  readonly machine: Readonly<Record<string, string>>
  /** What was asked for. */
  readonly runs: number
  readonly idleMinutes: number
  readonly rule: string
  readonly executables: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>
  readonly rows: Readonly<Partial<Record<FigureName, Row>>>
}

export const isMeasured = (entry: Measured | NotMeasured | undefined): entry is Measured =>
  entry !== undefined && "summary" in entry

/** What is recorded while measuring. */
export class Recorder {
  readonly #values = new Map<FigureName, Map<string, Array<number>>>()
  readonly #dropped = new Map<FigureName, Map<string, number>>()
  readonly #reasons = new Map<FigureName, Map<string, string>>()

  record(figure: FigureName, candidate: string, value: number): void {
    const row = this.#values.get(figure) ?? new Map<string, Array<number>>()
    const values = row.get(candidate) ?? []
    values.push(value)
    this.#values.set(figure, row.set(candidate, values))
  }

  drop(figure: FigureName, candidate: string): void {
    const row = this.#dropped.get(figure) ?? new Map<string, number>()
    this.#dropped.set(figure, row.set(candidate, (row.get(candidate) ?? 0) + 1))
  }

  /** From now on there is no figure, whatever was recorded. */
  cannot(figure: FigureName, candidate: string, reason: string): void {
    const row = this.#reasons.get(figure) ?? new Map<string, string>()
    this.#reasons.set(figure, row.set(candidate, reason))
  }

  row(figure: FigureName): Row {
    const row: Record<string, Measured | NotMeasured> = {}
    const allDropped = this.#dropped.get(figure) ?? new Map<string, number>()
    for (const [candidate, dropped] of allDropped) row[candidate] = { reason: "no run was quiet enough", dropped }
    for (const [candidate, values] of this.#values.get(figure) ?? []) {
      row[candidate] = { summary: summaryOf(values), dropped: allDropped.get(candidate) ?? 0, values }
    }
    for (const [candidate, reason] of this.#reasons.get(figure) ?? []) row[candidate] = { reason }
    return row
  }
}

/** A figure against a limit: in its unit, or as a multiple of the empty program. */
export const against = (row: Row, candidate: string, { of, timesEmpty }: Limit): number => {
  const entry = row[candidate]
  if (!isMeasured(entry)) return Number.NaN
  const value = statisticOf(entry.summary, of)
  if (timesEmpty !== true) return value
  const empty = row.empty
  return isMeasured(empty) ? value / empty.summary.median : Number.NaN
}

export const holds = (row: Row, limit: Limit): boolean => against(row, "ours", limit) <= limit.atMost

/** A line for each figure of ours that is not there, unless that was only the machine's fault and `forgiving` is set. */
export const missing = ({ rows }: Results, forgiving = false): ReadonlyArray<string> =>
  figureNames.flatMap((name) => {
    const row = rows[name]
    if (row === undefined || isMeasured(row.ours)) return []
    if (forgiving && row.ours?.dropped !== undefined) return []
    return [`${name}: not measured: ${row.ours?.reason ?? "nothing was recorded"}`]
  })

/** A line for each `must` that ours breaks. */
export const broken = ({ rows }: Results): ReadonlyArray<string> =>
  figureNames.flatMap((name) => {
    const row = rows[name]
    if (row === undefined || !isMeasured(row.ours)) return []
    return figures[name].limits
      .filter((limit) => limit.kind === "must" && !holds(row, limit))
      .map((limit) => {
        const unit = limit.timesEmpty ? "× empty" : figures[name].unit
        return `${name}: ${limit.of} ${number(against(row, "ours", limit))} ${unit}, at most ${limit.atMost}`
      })
  })
