/** Anonymous memory of a registrar that is registered and has been idle for some seconds. */
import { setTimeout } from "node:timers/promises"

import { registrars, type Subject } from "../Bench.ts"
import { httpFlag } from "../http.ts"
import { takeTurns } from "../turns.ts"
import { anonymousMiB, freePort, inWorld } from "../World.ts"

export const idleMs = 5_000

export const memory: Subject = {
  figures: ["memory"],
  measure: (bench) =>
    takeTurns(bench, {
      figures: memory.figures,
      candidates: registrars(bench),
      runs: bench.runs,
      measure: (candidate) =>
        inWorld(async (world) => {
          const { pid } = await world.settled(candidate, httpFlag(await freePort()))
          await setTimeout(idleMs)
          return { values: { memory: anonymousMiB(pid) } }
        })
    })
}
