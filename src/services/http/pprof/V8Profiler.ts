/**
 * V8's own profilers on the own process, through an inspector session, which opens no port. Live allocations are sampled from the layer's beginning to
 * its end: what was allocated before is in no profile. CPU time is sampled only while somebody waits for it.
 */
import { type Profiler, Session } from "node:inspector"

import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { HeapProfile } from "./heapProfile.ts"

/** V8's default: some hundred samples of a registrar. */
export const heapIntervalBytes = 32_768

/** Somebody else's CPU profile has not ended yet. */
export class AlreadyProfilingError extends Data.TaggedError("AlreadyProfilingError") {
  /** In Go's words. */
  override get message() {
    return "Could not enable CPU profiling: cpu profiling already in use"
  }
}

export class V8Profiler extends Context.Service<
  V8Profiler,
  {
    /** From now until `until` has succeeded, with a sample each `intervalUs` microseconds. Interrupted, or when `until` fails, it ends at once. */
    readonly cpu: (
      intervalUs: number,
      until: Effect.Effect<unknown>
    ) => Effect.Effect<Profiler.Profile, AlreadyProfilingError>
    /** What is alive now; garbage may count as such until it is collected. */
    readonly heap: (collectGarbage: boolean) => Effect.Effect<HeapProfile>
  }
>()("registrar/services/V8Profiler") {
  static readonly layer = (): Layer.Layer<V8Profiler> =>
    Layer.effect(
      V8Profiler,
      Effect.gen(function* () {
        const session = yield* Effect.acquireRelease(
          Effect.sync(() => {
            const session = new Session()
            session.connect()
            return session
          }),
          (session) => Effect.sync(() => session.disconnect())
        )
        /**
         * Goes on in a later turn of the loop: V8 answers collectGarbage with its lock on the agent held, so that disconnect(), or to collect once more, would
         * wait there for ever.
         */
        const ask = <A>(method: string, params: object = {}): Effect.Effect<A> =>
          Effect.callback<A>((resume) => {
            session.post(method, params, (error: Error | null, result?: object) => {
              setImmediate(resume, error === null ? Effect.succeed(result as A) : Effect.die(error))
            })
          })

        let profiling = false
        const claim = Effect.suspend(() => {
          if (profiling) return Effect.fail(new AlreadyProfilingError())
          profiling = true
          return Effect.void
        })
        const taken = (intervalUs: number, until: Effect.Effect<unknown>) =>
          Effect.gen(function* () {
            yield* ask("Profiler.enable")
            yield* ask("Profiler.setSamplingInterval", { interval: intervalUs })
            yield* ask("Profiler.start")
            yield* until
            return (yield* ask<{ readonly profile: Profiler.Profile }>("Profiler.stop")).profile
          })
        /** Also of a profile that nobody takes, which then is not put together. */
        const end = Effect.andThen(
          ask("Profiler.disable"),
          Effect.sync(() => {
            profiling = false
          })
        )

        yield* ask("HeapProfiler.startSampling", { samplingInterval: heapIntervalBytes })
        return V8Profiler.of({
          cpu: (intervalUs, until) =>
            Effect.acquireUseRelease(
              claim,
              () => taken(intervalUs, until),
              () => end
            ),
          heap: (collectGarbage) =>
            Effect.gen(function* () {
              if (collectGarbage) yield* ask("HeapProfiler.collectGarbage")
              const { profile } = yield* ask<{ readonly profile: HeapProfile }>("HeapProfiler.getSamplingProfile")
              return profile
            })
        })
      })
    )
}
