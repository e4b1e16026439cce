/** Says again whom a registrar waits for, at growing intervals, for as long as it stays in one state. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

import { remindRestMs } from "../machine/policies.ts"
import { type RegistrarSnapshot, lifecycleState } from "../machine/report.ts"
import type { Status } from "./Status.ts"

/** Never ends. Whoever is registered waits for nobody. `tell` decides whether the state is worth a line. */
export const remind = (status: Status["Service"], tell: (snapshot: RegistrarSnapshot, waitedMs: number) => void) => {
  const stateChanges = Effect.callback<void>((resume) => {
    const stop = status.subscribe(({ before, after }) => {
      if (lifecycleState(before) === lifecycleState(after)) return
      stop()
      resume(Effect.void)
    })
    return Effect.sync(stop)
  })
  const stay = Effect.gen(function* () {
    for (let reminders = 0; ; reminders++) {
      const now = status.snapshot()
      if (now !== undefined && lifecycleState(now) === "registered") return yield* stateChanges
      const changed = yield* Effect.timeoutOption(stateChanges, remindRestMs(reminders))
      if (changed._tag === "Some") return
      const snapshot = status.snapshot()
      if (snapshot !== undefined) tell(snapshot, (yield* Clock.currentTimeMillis) - status.since())
    }
  })
  return Effect.forever(stay)
}
