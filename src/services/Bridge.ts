/**
 * Where the chart meets the world: invoked actors become effects, and xstate's timers become Effect's sleeps, so that one clock, under test
 * a TestClock, drives both.
 *
 * Acquire the bridge before the actor: finalizers run backwards, so the actor stops first and never sees its own teardown as a failure.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type { EventObject } from "xstate"
import { fromCallback, fromPromise } from "xstate"

/**
 * One bridge serves one chart. `R` is what the effects behind its actors need; `crashed` hears of an actor that died of a fault, since a chart whose
 * actor is silently dead would wait for ever.
 */
export const makeBridge = <R = never>(crashed: (cause: Cause.Cause<unknown>) => void) =>
  Effect.gen(function* () {
    const work = yield* FiberSet.make<unknown, unknown>()
    const fork = yield* FiberSet.runtime(work)<R>()
    const toPromise = yield* FiberSet.runtimePromise(work)<R>()
    const held = yield* FiberSet.make<unknown, unknown>()
    const forkHeld = yield* FiberSet.runtime(held)<R>()

    return {
      /** An actor with one result. */
      call: <A, E>(effect: Effect.Effect<A, E, R>) =>
        fromPromise<A, undefined>(({ signal }) => toPromise(effect, { signal })),

      /**
       * An actor that lives as long as the state that invokes it and reports by event. What it acquires is released when the state is
       * left, not awaited by the next state; `drained` waits for it. It cannot fail: a failure that nobody heard would leave the chart waiting for ever.
       */
      hold: <Event extends EventObject, I = undefined>(
        live: (input: I, send: (event: Event) => void) => Effect.Effect<never, never, R | Scope.Scope>
      ) =>
        fromCallback<EventObject, I>(({ input, sendBack }) => {
          const whole = Effect.scoped(Effect.suspend(() => live(input, sendBack))) as Effect.Effect<never, never, R>
          const fiber = forkHeld(
            Effect.onExit(whole, (exit) =>
              Effect.sync(() => {
                if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) crashed(exit.cause)
              })
            )
          )
          return () => fiber.interruptUnsafe()
        }),

      /** Done when every `hold` that was stopped has released what it held. */
      drained: FiberSet.awaitEmpty(held),

      /** For `createActor(machine, { clock })`. */
      clock: {
        // biome-ignore lint/suspicious/noExplicitAny: xstate types a timer as any
        setTimeout: (fire: (...args: Array<any>) => void, ms: number): any =>
          fork(Effect.andThen(Effect.sleep(ms), Effect.sync(fire)) as Effect.Effect<void, never, R>),
        clearTimeout: (timer: Fiber.Fiber<void> | undefined) => timer?.interruptUnsafe()
      },

      /** Fibers alive, timers included. */
      live: Effect.map(Effect.all([FiberSet.size(work), FiberSet.size(held)]), ([a, b]) => a + b)
    }
  })
