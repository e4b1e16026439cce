/** Claim: the table says of each figure what it is, what it may be, and whether it is; and why there is none. */
import { assert, it } from "@effect/vitest"

import { figureNames } from "../../bench/figures.ts"
import { headLines, legend, reasonLines, tableOf } from "../../bench/table.ts"
import { measured, resultsOf } from "./results.ts"

const rows = {
  registered: { empty: measured(30, 20, 40), ours: measured(90, 95, 85), "other-registrar": measured(18) },
  memory: { ours: measured(17.24, 17.26), "other-registrar": { reason: "it ended with 2" } },
  healthCheck: { ours: measured(0.3), "other-registrar": { reason: "it ended with 2" } },
  getInfo: { ours: measured(1, 2, 300), "other-registrar": { reason: "no port" } },
  idle: { ours: { reason: "it died" } }
}

it("a figure is a line", () => {
  assert.strictEqual(
    tableOf(resultsOf(rows)),
    `
| figure            | ours                        | empty      | other-registrar | must          | aim         |                   | runs | made again |
|-------------------|-----------------------------|------------|-----------------|---------------|-------------|-------------------|------|------------|
| registered, ms    | 90 (85–95) = 3 ×            | 30 (20–40) | 18 = 0.6 ×      | ≤ 4.5 × empty | ≤ 3 × empty | held, and the aim | 3    | 0          |
| memory, MiB       | 17.3 (17.2–17.3)            | –          | –               | ≤ 16          | ≤ 12        | NOT HELD          | 2    | 0          |
| healthCheck, ms   | 0.3                         | –          | –               | ≤ 1           | ≤ 0.4       | held, and the aim | 1    | 0          |
| getInfo, ms       | p99 300 (median 2, max 300) | –          | –               | p99 ≤ 200     | p99 ≤ 100   | NOT HELD          | 3    | 0          |
| idle, % of a core | –                           | –          | –               | ≤ 0.02        |             | not measured      | –    | 0          |
`.trim()
  )
})

it("what is not there has a reason, once for all figures that share it", () => {
  assert.deepStrictEqual(reasonLines(resultsOf(rows)), [
    "– other-registrar: memory, healthCheck: it ended with 2",
    "– other-registrar: getInfo: no port",
    "– ours: idle: it died"
  ])
})

it("the machine, the executables and the rule stand above it", () => {
  assert.deepStrictEqual(headLines(resultsOf({})), [
    "2026-11-30T12:00:00.000Z, 2 × a CPU, Linux 6.1",
    "11 runs, 10 min idle",
    "ours: 111 MB, sha256 0123456789ab",
    "the rule"
  ])
})

it("every figure is explained", () => {
  for (const name of figureNames) assert.include(legend(), `- **${name}**: `)
})
