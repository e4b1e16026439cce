/** Claim: durations are read and printed as Go does it, exact to the nanosecond. */

import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { formatDuration, parseDuration } from "../../../src/services/flags/duration.ts"

const int64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n })

describe("duration", () => {
  it("reads back whatever it has printed, over the whole range", () => {
    fc.assert(fc.property(int64, (ns) => parseDuration(formatDuration(ns)) === ns))
  })

  it("adds up the parts in any order", () => {
    const part = fc.tuple(fc.nat(1_000), fc.constantFrom("h", "m", "s", "ms", "us", "\u00b5s", "\u03bcs", "ns"))
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const sum = parts.reduce((total, [n, unit]) => total + (parseDuration(`${n}${unit}`) ?? 0n), 0n)
        assert.equal(parseDuration(parts.map(([n, unit]) => `${n}${unit}`).join("")), sum)
      })
    )
  })

  it("never throws and answers within 64 bits", () => {
    const nearly = fc.string({ unit: fc.constantFrom(..."0123456789.+-hmsnuµd ") })
    fc.assert(
      fc.property(fc.oneof(nearly, fc.string()), (text) => {
        const ns = parseDuration(text)
        return ns === undefined || BigInt.asIntN(64, ns) === ns
      })
    )
  })

  it.each([
    ["0", 0n],
    ["-0", 0n],
    ["+0", 0n],
    ["-5s", -5_000_000_000n],
    [".5s", 500_000_000n],
    ["1.s", 1_000_000_000n],
    ["1.5h", 5_400_000_000_000n],
    ["1m30s", 90_000_000_000n],
    ["1s1m", 61_000_000_000n],
    ["1ns", 1n],
    ["2562047h47m16.854775807s", (1n << 63n) - 1n],
    ["-2562047h47m16.854775808s", -(1n << 63n)]
  ])("reads %s", (text, ns) => assert.equal(parseDuration(text), ns))

  it.each(["", "+", "5", "1d", "1S", "1e3s", "1 s", " 1s", ".s", "s", "--1s", "00", "0.5", "2562047h48m", "1s-1s"])(
    "refuses %j",
    (text) => assert.isUndefined(parseDuration(text))
  )

  it.each([
    [0n, "0s"],
    [1n, "1ns"],
    [1_100n, "1.1\u00b5s"],
    [2_200_000n, "2.2ms"],
    [1_000_000_000n, "1s"],
    [300_000_000_000n, "5m0s"],
    [-3_605_001_000_000n, "-1h0m5.001s"]
  ])("prints %s ns", (ns, text) => assert.equal(formatDuration(ns), text))
})
