/** Runs side by side: in each turn every candidate has one, in another order than in the turn before. */
import type { Bench } from "./Bench.ts"
import type { Candidate } from "./candidates.ts"
import type { FigureName } from "./figures.ts"
import { type Waited, waitedTooLong } from "./waiting.ts"

/** Tries of one run, until one has not waited. */
const triesAtMost = 6

export interface Run {
  readonly values: Readonly<Partial<Record<FigureName, number>>>
  /** Left out where the rule does not hold: memory, CPU time, and whatever runs under a quota. */
  readonly waited?: Waited
}

export interface Turns {
  readonly figures: ReadonlyArray<FigureName>
  readonly candidates: ReadonlyArray<Candidate>
  readonly runs: number
  readonly measure: (candidate: Candidate) => Promise<Run>
}

/** The candidates of a turn, each first in its turn. */
export const inTurn = <A>(candidates: ReadonlyArray<A>, turn: number): ReadonlyArray<A> => {
  const first = turn % Math.max(1, candidates.length)
  return [...candidates.slice(first), ...candidates.slice(0, first)]
}

/**
 * Every candidate has a run first that does not count. A candidate that fails has no figure, and no further run; the reason is recorded.
 */
export const takeTurns = async ({ recorder, warn }: Bench, { figures, candidates, runs, measure }: Turns) => {
  const out = new Set<Candidate>()
  const attempt = async (candidate: Candidate): Promise<Run | undefined> => {
    try {
      return await measure(candidate)
    } catch (error) {
      out.add(candidate)
      for (const figure of figures) recorder.cannot(figure, candidate.name, reasonOf(error))
      return undefined
    }
  }
  const counted = async (candidate: Candidate): Promise<void> => {
    for (let tries = 0; tries < triesAtMost; tries++) {
      const run = await attempt(candidate)
      if (run === undefined) return
      const dropped = run.waited !== undefined && waitedTooLong(run.waited)
      for (const figure of figures) {
        const value = run.values[figure]
        if (value === undefined) continue
        if (dropped) recorder.drop(figure, candidate.name)
        else recorder.record(figure, candidate.name, value)
      }
      if (!dropped) return
    }
    warn(`${figures.join(", ")}: a run of ${candidate.name} waited ${triesAtMost} times; there is one less`)
  }

  for (const candidate of candidates) await attempt(candidate)
  for (let turn = 0; turn < runs; turn++) {
    for (const candidate of inTurn(candidates, turn)) {
      if (!out.has(candidate)) await counted(candidate)
    }
  }
}

/** Its first line: tools say more, each in its own way. */
export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? ""
