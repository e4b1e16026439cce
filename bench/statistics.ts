/** Many runs in a few numbers. */

export type Statistic = "median" | "p99" | "worst"

export interface Summary {
  readonly runs: number
  readonly median: number
  readonly min: number
  readonly p99: number
  readonly max: number
}

/** The least value that `share` of all do not pass (nearest rank). */
const quantile = (ascending: ReadonlyArray<number>, share: number): number =>
  ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? Number.NaN

export const medianOf = (values: ReadonlyArray<number>): number => {
  const ascending = values.toSorted((a, b) => a - b)
  const upper = ascending[Math.floor(ascending.length / 2)] ?? Number.NaN
  return ascending.length % 2 === 1 ? upper : (quantile(ascending, 0.5) + upper) / 2
}

/** Of at least one value. */
export const summaryOf = (values: ReadonlyArray<number>): Summary => {
  const ascending = values.toSorted((a, b) => a - b)
  return {
    runs: values.length,
    median: medianOf(values),
    min: quantile(ascending, 0),
    p99: quantile(ascending, 0.99),
    max: quantile(ascending, 1)
  }
}

export const statisticOf = (summary: Summary, statistic: Statistic): number =>
  statistic === "worst" ? summary.max : summary[statistic]

/** Three digits that count. */
export const number = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
