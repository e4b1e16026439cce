/** What a subject of the bench is given, and what it is. */
import type { Candidate } from "./candidates.ts"
import type { FigureName } from "./figures.ts"
import type { Recorder } from "./results.ts"

export interface Bench {
  readonly empty: Candidate
  readonly ours: Candidate
  readonly peers: ReadonlyArray<Candidate>
  /** Of each candidate, where a figure is made of runs. */
  readonly runs: number
  readonly idleMinutes: number
  readonly recorder: Recorder
  readonly warn: (line: string) => void
}

export const usualRuns = 11

/** How often something is made that is made `usually` so often: in the same measure less where fewer runs are asked for, and never more. */
export const inMeasure = (usually: number, { runs }: Pick<Bench, "runs">): number =>
  Math.max(1, Math.min(usually, Math.round((usually * runs) / usualRuns)))

export interface Subject {
  readonly figures: ReadonlyArray<FigureName>
  /** Records them. When it fails, there are none of these figures. */
  readonly measure: (bench: Bench) => Promise<void>
}

/** Ours, then the others. */
export const registrars = ({ ours, peers }: Bench): ReadonlyArray<Candidate> => [ours, ...peers]
