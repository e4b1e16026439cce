/** Claim: the numbers of the lifecycle keep their bounds for every count and every draw, and the sums that the README tells are right. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"

import {
  attemptsUsedUp,
  defaults,
  dialRestMs,
  healRestMs,
  refusalRestMs,
  remindRestMs
} from "../../src/machine/policies.ts"

const count = fc.integer({ min: 1, max: 1_000_000 })
const spread = fc.double({ min: -1, max: 1, noNaN: true })

describe("the back-offs", () => {
  it("never shrink from one count to the next, and never pass their ceiling", () => {
    fc.assert(
      fc.property(count, (n) => {
        for (const [rest, ceiling] of [
          [dialRestMs, 2_000],
          [healRestMs, 30_000],
          [(times: number) => refusalRestMs(times, 0), 60_000]
        ] as const) {
          assert.isAtMost(rest(n), rest(n + 1))
          assert.isAtMost(rest(n), ceiling)
        }
      })
    )
  })

  it("spread a refusal by a fifth to either side, and no further whatever is drawn", () => {
    fc.assert(
      fc.property(count, spread, (n, drawn) => {
        const middle = refusalRestMs(n, 0)
        assert.closeTo(refusalRestMs(n, drawn), middle * (1 + 0.2 * drawn), 1)
        assert.strictEqual(refusalRestMs(n, 5), refusalRestMs(n, 1))
        assert.strictEqual(refusalRestMs(n, -5), refusalRestMs(n, -1))
      })
    )
  })

  it("put a socket back that was lost again after 1 s doubling to 30 s", () => {
    assert.deepStrictEqual([2, 3, 4, 5, 6, 7, 8].map(healRestMs), [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  it("remind after 10 s, 30 s, 1, 2 and 5 minutes, then every 10 minutes", () => {
    let waited = 0
    const at = [0, 1, 2, 3, 4, 5, 6].map((n) => {
      waited += remindRestMs(n)
      return waited / 1_000
    })
    assert.deepStrictEqual(at, [10, 30, 60, 120, 300, 900, 1_500])
  })

  it("announce again after 1 s doubling to 60 s", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => refusalRestMs(n, 0)),
      [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]
    )
  })
})

describe("the attempts", () => {
  it("last about four minutes by default", () => {
    let total = 0
    let refusals = 0
    while (!attemptsUsedUp(refusals, defaults.registrationAttempts)) total += refusalRestMs(++refusals, 0)
    assert.strictEqual(refusals + 1, defaults.registrationAttempts)
    assert.isTrue(total > 230_000 && total < 250_000, `${total} ms`)
  })

  it("are used up by the first refusal when there is one, and never when there is no limit", () => {
    assert.isTrue(attemptsUsedUp(0, 1))
    fc.assert(fc.property(count, (n) => assert.isFalse(attemptsUsedUp(n, 0))))
  })
})
