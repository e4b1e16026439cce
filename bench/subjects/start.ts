/** From exec to registered: time, and CPU time of all threads. */
import { registrars, type Subject } from "../Bench.ts"
import type { Candidate } from "../candidates.ts"
import { type Run, takeTurns } from "../turns.ts"
import { cpuMsOf, mainThread, Stopwatch } from "../waiting.ts"
import { inWorld, wholeRun } from "../World.ts"

/** Of an ended process only the main thread can be read; the others use less than 1 ms, and leaving them out makes ours look worse, not better. */
const emptyRun = async (empty: Candidate): Promise<Run> => {
  const { cpuMs, waited } = await wholeRun(empty)
  return { values: { registered: waited.wallMs, cpu: cpuMs }, waited }
}

const registeredRun = (candidate: Candidate): Promise<Run> =>
  inWorld(async (world) => {
    await world.driver.comes()
    const stopwatch = new Stopwatch()
    const registrar = world.start(candidate)
    await registrar.during(world.registered())
    const waited = stopwatch.stop(mainThread(registrar.pid))
    return { values: { registered: waited.wallMs, cpu: cpuMsOf(registrar.pid) }, waited }
  })

export const start: Subject = {
  figures: ["registered", "cpu"],
  measure: (bench) =>
    takeTurns(bench, {
      figures: start.figures,
      candidates: [bench.empty, ...registrars(bench)],
      runs: bench.runs,
      measure: (candidate) => (candidate.kind === "empty" ? emptyRun(candidate) : registeredRun(candidate))
    })
}
