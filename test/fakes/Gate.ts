/** Counts what is acquired and released, and can hold releases back, so that a test sees `stopping` before it ends. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

export interface Gate {
  /** Runs `use` as a held resource; when it is interrupted its release waits for the gate. */
  readonly hold: <A, E>(use: Effect.Effect<A, E>, released: () => void) => Effect.Effect<A, E>
  /** The same for a resource that lives as long as the scope. */
  readonly holdScoped: (released: () => void) => Effect.Effect<void, never, Scope.Scope>
  readonly open: () => void
  readonly close: () => void
  readonly counts: () => { readonly acquired: number; readonly released: number }
}

export const makeGate = (): Gate => {
  const latch = Latch.makeUnsafe(true)
  let acquired = 0
  let released = 0
  const acquire = Effect.sync(() => {
    acquired++
  })
  const release = (exit: Exit.Exit<unknown, unknown>, onReleased: () => void) =>
    Effect.andThen(
      Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? latch.await : Effect.void,
      Effect.sync(() => {
        released++
        onReleased()
      })
    )
  return {
    hold: (use, onReleased) =>
      Effect.acquireUseRelease(
        acquire,
        () => use,
        (_, exit) => release(exit, onReleased)
      ),
    holdScoped: (onReleased) => Effect.acquireRelease(acquire, (_, exit) => release(exit, onReleased)),
    open: () => void latch.openUnsafe(),
    close: () => void latch.closeUnsafe(),
    counts: () => ({ acquired, released })
  }
}
