/** Claim: a summary says what its runs were, and a limit of any kind finds its number in it. */
import { assert, it } from "@effect/vitest"

import { medianOf, number, statisticOf, summaryOf } from "../../bench/statistics.ts"

it("the median is the middle run, or lies between the two of the middle", () => {
  assert.strictEqual(medianOf([9, 1, 5]), 5)
  assert.strictEqual(medianOf([9, 1, 5, 7]), 6)
  assert.strictEqual(medianOf([3]), 3)
})

it("99 of 100 runs are not above p99", () => {
  const values = Array.from({ length: 200 }, (_, n) => 200 - n)
  assert.deepStrictEqual(summaryOf(values), { runs: 200, median: 100.5, min: 1, p99: 198, max: 200 })
  assert.strictEqual(summaryOf([4, 2]).p99, 4)
})

it("the worst run is the longest", () => {
  const summary = summaryOf([2, 8, 4])
  assert.strictEqual(statisticOf(summary, "worst"), 8)
  assert.strictEqual(statisticOf(summary, "median"), 4)
})

it("numbers have three digits that count", () => {
  assert.deepStrictEqual([0.01234, 1.2345, 12.345, 123.45, 1234.5, 0].map(number), [
    "0.0123",
    "1.23",
    "12.3",
    "123",
    "1235",
    "0"
  ])
})
