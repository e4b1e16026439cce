/**
 * Wakes whoever looks after a socket when something has changed in its folder, and now and then without: inotify drops events, and a rival may die
 * without a trace. The folder is watched and not the entry, since a watch on the entry goes blind when it is replaced.
 */
import * as fs from "node:fs"

import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

/** After a change: whoever replaces a socket by name removes it first, and gets this long to bind. */
const settleMs = 10
/** How often to look without a cause, as a rule. */
export const pollMs = 30_000
/** Without inotify (no watches left on this host, or no right to read the folder). */
const unwatchedPollMs = 100

const watch = (folder: string, stir: () => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      try {
        return fs.watch(folder, { persistent: false }, stir).on("error", stir)
      } catch {
        return undefined
      }
    }),
    (watcher) => Effect.sync(() => watcher?.close())
  )

/** An effect that ends at the next change in `folder`, or after `pollMs` at the latest. The watch lasts as long as the scope. */
export const watchFolder = Effect.fnUntraced(function* (folder: string) {
  const stirred = Latch.makeUnsafe(false)
  const watcher = yield* watch(folder, () => stirred.openUnsafe())
  return Effect.fnUntraced(function* (pollMs: number) {
    const woken = yield* Effect.timeoutOption(stirred.await, watcher === undefined ? unwatchedPollMs : pollMs)
    stirred.closeUnsafe()
    if (woken._tag === "Some") yield* Effect.sleep(settleMs)
  })
})
