/**
 * Gives back to the machine what the way to the first registration has needed: a third of the anonymous memory of a registrar that then mostly waits. V8
 * would keep it, since nothing that follows allocates enough to make it look. Costs some 40 ms of CPU, once.
 */
import * as v8 from "node:v8"
import * as vm from "node:vm"

import * as Effect from "effect/Effect"

import { lifecycleState } from "../machine/report.ts"
import type { Status } from "./Status.ts"

/** The kubelet has its answer by then, and nobody waits for ours: the loop stands still meanwhile. */
const quietMs = 1_000

/**
 * Compiled code goes too, the byte code of what ran once and the machine code of what ran often: what is needed again is compiled again. V8 takes these flags
 * at any time; they are set back because its code caches are keyed by them.
 */
const flags = ["expose-gc", "stress-flush-code", "flush-baseline-code"]

type Collect = (options: { readonly type: "major"; readonly execution: "sync"; readonly flavor: "last-resort" }) => void

const collectAll = (): void => {
  for (const flag of flags) v8.setFlagsFromString(`--${flag}`)
  const collect: Collect = vm.runInNewContext("gc")
  // As if memory had run out: several rounds, pages are emptied, and the young generation shrinks. A common collection gives nothing back.
  collect({ type: "major", execution: "sync", flavor: "last-resort" })
  for (const flag of flags) v8.setFlagsFromString(`--no-${flag}`)
}

/** Ends when it is done: once the registrar has stayed registered for a while. */
export const giveBackMemory = (status: Status["Service"], collect = collectAll): Effect.Effect<void> => {
  const becomes = (registered: boolean) =>
    Effect.callback<void>((resume) => {
      const stop = status.subscribe(({ after }) => {
        if ((lifecycleState(after) === "registered") !== registered) return
        stop()
        resume(Effect.void)
      })
      return Effect.sync(stop)
    })
  const untilQuiet = Effect.gen(function* () {
    for (;;) {
      yield* becomes(true)
      const left = yield* Effect.timeoutOption(becomes(false), quietMs)
      if (left._tag === "None") return
    }
  })
  return Effect.andThen(untilQuiet, Effect.sync(collect))
}
