/** What ends by itself: `--version`, `--help`, and the probe mode that asks a running registrar. */
import { registrars, type Subject } from "../Bench.ts"
import type { Candidate } from "../candidates.ts"
import { type Run, takeTurns } from "../turns.ts"
import { inWorld, wholeRun } from "../World.ts"

const run = async (figure: "version" | "help" | "probe", candidate: Candidate, flags: ReadonlyArray<string>) => {
  const { waited } = await wholeRun(candidate, ...(candidate.kind === "empty" ? [] : flags))
  return { values: { [figure]: waited.wallMs }, waited } satisfies Run
}

const ending = (figure: "version" | "help"): Subject => ({
  figures: [figure],
  measure: (bench) =>
    takeTurns(bench, {
      figures: [figure],
      candidates: [bench.empty, ...registrars(bench)],
      runs: bench.runs,
      measure: (candidate) => run(figure, candidate, [`--${figure}`])
    })
})

export const version = ending("version")
export const help = ending("help")

export const probe: Subject = {
  figures: ["probe"],
  measure: (bench) =>
    inWorld(async (world) => {
      for (const { name } of bench.peers) bench.recorder.cannot("probe", name, asksNobody)
      await world.settled(bench.ours)
      await takeTurns(bench, {
        figures: ["probe"],
        candidates: [bench.empty, bench.ours],
        runs: bench.runs,
        measure: (candidate) => run("probe", candidate, world.probeFlags)
      })
    })
}

/** Upstream's probe mode ends at once, since v2.9; before, it looked for a file. */
export const asksNobody = "its probe mode asks no registrar"
