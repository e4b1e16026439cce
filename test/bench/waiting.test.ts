/** Claim: the rule that drops a run is the one that is printed, and what it is asked about is read off the kernel. */
import { assert, it } from "@effect/vitest"

import { cpuMsOf, mainThread, parseSchedstat, rule, Stopwatch, waitedTooLong } from "../../bench/waiting.ts"

it("5 % of the time, never more than 3 ms, and always 1 ms", () => {
  const waitedOf = (wallMs: number) => (waitedMs: number) => waitedTooLong({ wallMs, waitedMs })
  const short = waitedOf(5)
  const middle = waitedOf(40)
  const long = waitedOf(500)
  assert.deepStrictEqual([short(1), short(1.01)], [false, true])
  assert.deepStrictEqual([middle(2), middle(2.01)], [false, true])
  assert.deepStrictEqual([long(3), long(3.01)], [false, true])
  assert.include(rule, "5 % of its time or 3 ms (1 ms")
})

it("a run whose waiting could not be read is dropped", () => {
  assert.isTrue(waitedTooLong({ wallMs: 40, waitedMs: Number.NaN }))
})

it("schedstat is in nanoseconds", () => {
  assert.deepStrictEqual(parseSchedstat("27500000 1250000 17\n"), { cpuMs: 27.5, waitedMs: 1.25 })
})

it("the main thread's CPU time is part of that of all threads", () => {
  const { cpuMs } = mainThread(process.pid)
  assert.isAbove(cpuMs, 0)
  assert.isAtLeast(cpuMsOf(process.pid), cpuMs)
})

it("the thread that waited longest counts, of what was running and of what was started", () => {
  const waited = new Stopwatch([process.pid]).stop({ cpuMs: 0, waitedMs: 10_000 })
  assert.strictEqual(waited.waitedMs, 10_000)
  assert.isBelow(waited.wallMs, 10_000)
})
