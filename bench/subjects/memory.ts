/** Anonymous memory of a registrar that is registered and has been idle for a while. */
import { setTimeout } from "node:timers/promises"

import { inMeasure, registrars, type Subject } from "../Bench.ts"
import { httpFlag } from "../http.ts"
import { takeTurns } from "../turns.ts"
import { anonymousMiB, freePort, inWorld } from "../World.ts"

/** Some seconds after it last had much to do, V8 looks for memory that it can give back. */
export const idleMs = 20_000
/** They hardly differ. */
const runs = 5

export const memory: Subject = {
  figures: ["memory"],
  measure: (bench) =>
    takeTurns(bench, {
      figures: memory.figures,
      candidates: registrars(bench),
      runs: inMeasure(runs, bench),
      measure: (candidate) =>
        inWorld(async (world) => {
          const { pid } = await world.settled(candidate, httpFlag(await freePort()))
          await setTimeout(idleMs)
          return { values: { memory: anonymousMiB(pid) } }
        })
    })
}
