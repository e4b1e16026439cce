/** What a registrar costs while nothing happens. All of them are idle side by side; nothing else runs. */
import { setTimeout } from "node:timers/promises"

import { registrars, type Subject } from "../Bench.ts"
import { httpFlag } from "../http.ts"
import { reasonOf } from "../turns.ts"
import { cpuMsOf } from "../waiting.ts"
import { freePort, inWorld } from "../World.ts"
import { idleMs } from "./memory.ts"

export const idle: Subject = {
  figures: ["idle"],
  measure: async (bench) => {
    const lives = registrars(bench).map((candidate) =>
      inWorld(async (world) => {
        const { pid } = await world.settled(candidate, httpFlag(await freePort()))
        // What a start still leaves to do is no part of it.
        await setTimeout(idleMs)
        const from = performance.now()
        const before = cpuMsOf(pid)
        await setTimeout(bench.idleMinutes * 60_000)
        const share = (cpuMsOf(pid) - before) / (performance.now() - from)
        bench.recorder.record("idle", candidate.name, 100 * share)
      }).catch((error) => bench.recorder.cannot("idle", candidate.name, reasonOf(error)))
    )
    await Promise.all(lives)
  }
}
