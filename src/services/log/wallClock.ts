/** The time for log lines. Node's wall clock counts whole milliseconds, klog's header shows microseconds. */

/** Farther apart than this, somebody has set the clock or the machine has slept: the fine clock is put right. */
const TOLERATED_MS = 2
const MOST_LOOKS = 3

/** Milliseconds since the epoch with a fraction, in step with `Date.now()` and, while nobody sets that, never going back. */
export function makeWallClock(): () => number {
  let origin = Date.now() - performance.now()
  return () => {
    let coarse = 0
    let fine = 0
    // A process that waits for a CPU between the two readings has not been set back: it looks again.
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      coarse = Date.now()
      fine = origin + performance.now()
      if (Math.abs(fine - coarse) <= TOLERATED_MS) return fine
    }
    origin += coarse - fine
    return coarse
  }
}
