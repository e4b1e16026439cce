/** Results of a run that never was. */
import { type Measured, Recorder, type Results } from "../../bench/results.ts"
import { summaryOf } from "../../bench/statistics.ts"

export const measured = (...values: ReadonlyArray<number>): Measured => ({
  summary: summaryOf(values),
  dropped: 0,
  values
})

export const resultsOf = (rows: Results["rows"]): Results => ({
  at: "2026-11-30T12:00:00.000Z",
  machine: { cpu: "2 × a CPU", kernel: "Linux 6.1" },
  runs: 11,
  idleMinutes: 10,
  rule: "the rule",
  executables: { ours: { bytes: 110_600_000, sha256: "0123456789abcdef" } },
  rows
})

export const recorded = (fill: (recorder: Recorder) => void): Recorder => {
  const recorder = new Recorder()
  fill(recorder)
  return recorder
}
