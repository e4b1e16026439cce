/**
 * How long the kubelet waits for `GetInfo` at a CPU quota of 100m, beside health checks, while garbage is collected.
 *
 * Nothing in a registrar can be told to collect. The health checks carry a header of 15 KB, as long as node lets one be: garbage, of which enough lives
 * through two young collections that a full one follows every half minute or so. (Seen with `node --trace-gc`, the same flags and this load.) Ten
 * a second of each fill the quota of a slow machine, and the queue before it would be measured. Calls begin at their times, whether the one before has ended or not.
 */
import { setTimeout } from "node:timers/promises"

import * as grpc from "@grpc/grpc-js"

import { Registration } from "../../test/fakes/protos.ts"
import { type Bench, inMeasure, registrars, type Subject } from "../Bench.ts"
import { type Candidate, commandOf } from "../candidates.ts"
import { inContainer } from "../Container.ts"
import { got, healthCheck, httpFlag } from "../http.ts"
import { reasonOf } from "../turns.ts"
import { freePort, inWorld } from "../World.ts"

const milliCpu = 100
const periodMs = 250
/** Four minutes of them. */
const calls = 960
const scrapeEveryMs = 15_000
/** Nearly all calls fall into it, its beginning and its end too. */
const profileSeconds = 230
const garbage = { "X-Garbage": "g".repeat(15_000) }

/** On a connection of its own, which is part of it. */
const getInfo = async (socket: string): Promise<number> => {
  const from = performance.now()
  const client = new Registration(`unix:${socket}`, grpc.credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1
  })
  const call = client.GetInfo?.bind(client) as (request: object, done: (error: Error | null) => void) => void
  try {
    await new Promise<void>((resolve, reject) => call({}, (error) => (error === null ? resolve() : reject(error))))
    return performance.now() - from
  } finally {
    client.close()
  }
}

/** Its failure is seen when all have ended. */
const begun = <A>(call: Promise<A>): Promise<A> => {
  call.catch(() => {})
  return call
}

/** What an operator looks at meanwhile: a scrape every 15 s, and a CPU profile. Stops with `signal`. */
const observe = async (port: number, signal: AbortSignal): Promise<void> => {
  const scrape = async () => {
    for (;;) {
      await got(port, "/metrics", signal)
      await setTimeout(scrapeEveryMs, undefined, { signal })
    }
  }
  await Promise.all([scrape(), got(port, `/debug/pprof/profile?seconds=${profileSeconds}`, signal)]).catch(
    (error: unknown) => {
      if (!signal.aborted) throw error
    }
  )
}

const life = (bench: Bench, figure: "getInfo" | "getInfo.observed", candidate: Candidate): Promise<void> =>
  inWorld((world) =>
    inContainer({ milliCpu }, async (container) => {
      await world.driver.comes()
      const port = await freePort()
      const observed = figure === "getInfo.observed"
      const flags = [...world.flags, httpFlag(port), ...(observed ? ["--enable-pprof"] : [])]
      const registrar = container.start(commandOf(candidate, ...flags))
      await registrar.during(world.registered())
      await container.atRest()
      const over = new AbortController()
      const observing = observed ? begun(observe(port, over.signal)) : undefined
      const answers: Array<Promise<number>> = []
      const checks: Array<Promise<number | undefined>> = []
      const from = performance.now()
      for (let n = 0; n < inMeasure(calls, bench); n++) {
        await setTimeout(Math.max(0, from + n * periodMs - performance.now()))
        answers.push(begun(getInfo(world.socket)))
        await setTimeout(periodMs / 2)
        checks.push(begun(healthCheck(port, garbage)))
      }
      for (const ms of await registrar.during(Promise.all(answers))) bench.recorder.record(figure, candidate.name, ms)
      const unhealthy = (await registrar.during(Promise.all(checks))).filter((status) => status !== 200).length
      if (unhealthy > 0)
        bench.warn(`${figure}: ${unhealthy} of ${checks.length} health checks of ${candidate.name} did not answer 200`)
      over.abort()
      await observing
    })
  )

const subjectOf = (figure: "getInfo" | "getInfo.observed"): Subject => ({
  figures: [figure],
  measure: async (bench) => {
    for (const candidate of registrars(bench)) {
      try {
        await life(bench, figure, candidate)
      } catch (error) {
        bench.recorder.cannot(figure, candidate.name, reasonOf(error))
      }
    }
  }
})

export const getInfoUnderLoad = subjectOf("getInfo")
export const getInfoObserved = subjectOf("getInfo.observed")
