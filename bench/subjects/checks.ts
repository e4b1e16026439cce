/** 10,000 health checks: CPU time of each, and what memory they leave behind. Then 1,000 scrapes, of which CPU time is asked. */
import { setTimeout } from "node:timers/promises"

import { type Bench, inMeasure, registrars, type Subject } from "../Bench.ts"
import { type Candidate, commandOf, emptyServer } from "../candidates.ts"
import { got, healthCheck, httpFlag } from "../http.ts"
import { atRest, Process } from "../Process.ts"
import { inTurn, reasonOf } from "../turns.ts"
import { cpuMsOf } from "../waiting.ts"
import { anonymousMiB, freePort, World } from "../World.ts"
import { idleMs } from "./memory.ts"

/** A batch gives a figure of CPU time; all batches together are what memory is asked about. */
const batches = 10
const checksInBatch = 1_000
/** Memory after many checks varies little from process to process. */
const lives = 3

/** Something that answers health checks. */
interface Served {
  readonly candidate: Candidate
  readonly pid: number
  readonly port: number
  readonly idleMiB: number
  readonly close: () => Promise<unknown>
}

const serve = async (candidate: Candidate): Promise<Served> => {
  const port = await freePort()
  const { pid, close } = await (candidate.kind === "empty" ? serveEmpty(candidate, port) : serveOurs(candidate, port))
  try {
    await setTimeout(idleMs)
    return { candidate, pid, port, idleMiB: anonymousMiB(pid), close }
  } catch (error) {
    await close()
    throw error
  }
}

const serveEmpty = async (candidate: Candidate, port: number) => {
  const server = new Process(commandOf(candidate, String(port)))
  await server.during(atRest(server.pid))
  return { pid: server.pid, close: () => server.end() }
}

const serveOurs = async (candidate: Candidate, port: number) => {
  const world = new World()
  try {
    const { pid } = await world.settled(candidate, httpFlag(port))
    return { pid, close: () => world.close() }
  } catch (error) {
    await world.close()
    throw error
  }
}

const checkEach = async ({ recorder }: Bench, { candidate: { name }, pid, port }: Served): Promise<void> => {
  const before = cpuMsOf(pid)
  for (let n = 0; n < checksInBatch; n++) {
    const status = await healthCheck(port)
    if (status !== 200) throw new Error(`/healthz answered ${status}`)
  }
  recorder.record("healthCheck", name, (cpuMsOf(pid) - before) / checksInBatch)
}

/** The empty server has nothing to be scraped. */
const scrapeOften = async ({ recorder }: Bench, { candidate: { kind, name }, pid, port }: Served): Promise<void> => {
  if (kind === "empty") return
  const before = cpuMsOf(pid)
  for (let n = 0; n < checksInBatch; n++) await got(port, "/metrics")
  recorder.record("scrape", name, (cpuMsOf(pid) - before) / checksInBatch)
}

/** One life of each that can serve. */
const life = async (bench: Bench, candidates: ReadonlyArray<Candidate>): Promise<void> => {
  const served: Array<Served> = []
  try {
    for (const candidate of candidates) {
      try {
        served.push(await serve(candidate))
      } catch (error) {
        for (const figure of checks.figures) bench.recorder.cannot(figure, candidate.name, reasonOf(error))
      }
    }
    for (let batch = 0; batch < batches; batch++) {
      for (const each of inTurn(served, batch)) await checkEach(bench, each)
    }
    await setTimeout(idleMs)
    for (const { candidate, pid, idleMiB } of served) {
      bench.recorder.record("memoryAfterChecks", candidate.name, anonymousMiB(pid) - idleMiB)
    }
    for (const each of served) await scrapeOften(bench, each)
  } finally {
    for (const { close } of served) await close()
  }
}

export const checks: Subject = {
  figures: ["memoryAfterChecks", "healthCheck", "scrape"],
  measure: async (bench) => {
    for (let n = 0; n < inMeasure(lives, bench); n++) await life(bench, inTurn([emptyServer, ...registrars(bench)], n))
  }
}
