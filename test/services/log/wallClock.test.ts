/** Claim: the clock of the log is the wall clock, finer, and follows it when somebody sets it. */

import { afterEach, assert, describe, it, vi } from "vitest"

import { makeWallClock } from "../../../src/services/log/wallClock.ts"

afterEach(() => void vi.restoreAllMocks())

describe("makeWallClock", () => {
  it("goes on between the milliseconds and never back", () => {
    const now = makeWallClock()
    const seen = Array.from({ length: 10_000 }, now)
    assert.isTrue(seen.every((each, at) => at === 0 || each >= (seen[at - 1] ?? 0)))
    assert.isTrue(seen.some((each) => !Number.isInteger(each)))
    assert.isBelow(Math.abs(now() - Date.now()), 5)
  })

  it("is not put off by a wait for a CPU between its two readings", () => {
    const now = makeWallClock()
    const before = now()
    const atOnce = Date.now()
    // The wall clock as it was read, and everything after it half a second later.
    const later = performance.now() + 500
    vi.spyOn(performance, "now").mockImplementation(() => later)
    vi.spyOn(Date, "now")
      .mockReturnValueOnce(atOnce)
      .mockReturnValue(atOnce + 500)
    assert.isAtLeast(now(), before + 498)
  })

  it("follows a wall clock that was set", () => {
    const now = makeWallClock()
    const later = Date.now() + 3_600_000
    vi.spyOn(Date, "now").mockReturnValue(later)
    assert.equal(now(), later)
  })
})
