/** The time for log lines. Node's wall clock counts whole milliseconds, klog's header shows microseconds. */

/** Farther apart than this, somebody has set the clock or the machine has slept: the fine clock is put right. */
const TOLERATED_MS = 2

/** Milliseconds since the epoch with a fraction, in step with `Date.now()` and, while nobody sets that, never going back. */
export function makeWallClock(): () => number {
  let origin = Date.now() - performance.now()
  return () => {
    const coarse = Date.now()
    const fine = origin + performance.now()
    if (Math.abs(fine - coarse) <= TOLERATED_MS) return fine
    origin += coarse - fine
    return coarse
  }
}
