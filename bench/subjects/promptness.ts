/** What a registrar does at once: dial a driver that comes late, put a removed socket back, end. */
import * as fs from "node:fs"
import { setTimeout } from "node:timers/promises"

import { type Bench, inMeasure, registrars, type Subject } from "../Bench.ts"
import type { Candidate } from "../candidates.ts"
import { atRest } from "../Process.ts"
import { type Run, takeTurns } from "../turns.ts"
import { mainThread, Stopwatch } from "../waiting.ts"
import { inWorld } from "../World.ts"

/** The worst of so many is asked about. */
const times = 30
/** Peers look for their driver in steps of up to a second; no step may meet its socket always at the same point. */
const stepMs = 1_000

const promptly = (
  figure: "lateDriver" | "healed" | "stop",
  measure: (candidate: Candidate) => Promise<Run>
): Subject => ({
  figures: [figure],
  measure: (bench: Bench) =>
    takeTurns(bench, { figures: [figure], candidates: registrars(bench), runs: inMeasure(times, bench), measure })
})

export const lateDriver = promptly("lateDriver", (candidate) =>
  inWorld(async (world) => {
    const registrar = world.start(candidate)
    await registrar.during(atRest(registrar.pid))
    await setTimeout(stepMs * Math.random())
    const called = world.driver.calls.next("GetPluginInfo", () => true)
    const stopwatch = new Stopwatch([registrar.pid])
    await world.driver.comes()
    await registrar.during(called)
    const waited = stopwatch.stop()
    return { values: { lateDriver: waited.wallMs }, waited }
  })
)

export const healed = promptly("healed", (candidate) =>
  inWorld(async (world) => {
    const registrar = await world.settled(candidate)
    const stopwatch = new Stopwatch([registrar.pid])
    const back = world.socketAppears(performance.now())
    fs.rmSync(world.socket)
    await registrar.during(back)
    const waited = stopwatch.stop()
    return { values: { healed: waited.wallMs }, waited }
  })
)

export const stop = promptly("stop", (candidate) =>
  inWorld(async (world) => {
    const registrar = await world.settled(candidate)
    const before = mainThread(registrar.pid)
    const stopwatch = new Stopwatch()
    const { code, signal, last } = await registrar.end()
    const waited = stopwatch.stop({ ...last, waitedMs: last.waitedMs - before.waitedMs })
    if (code !== 0) throw new Error(`it ended with ${code ?? signal}`)
    if (fs.existsSync(world.socket)) throw new Error("its socket is still there")
    return { values: { stop: waited.wallMs }, waited }
  })
)
