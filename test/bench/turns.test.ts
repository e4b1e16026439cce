/** Claim: runs are side by side in rotating order, the first does not count, those that waited are made again, and who fails has no figure. */
import { assert, it } from "@effect/vitest"

import type { Bench } from "../../bench/Bench.ts"
import type { Candidate } from "../../bench/candidates.ts"
import { isMeasured, Recorder } from "../../bench/results.ts"
import { inTurn, type Run, takeTurns } from "../../bench/turns.ts"

const candidate = (name: string): Candidate => ({ kind: "peer", name, command: [name], environment: {} })
const a = candidate("a")
const b = candidate("b")
const quiet = { wallMs: 100, waitedMs: 0 }
const waited = { wallMs: 100, waitedMs: 50 }

const turns = async (runs: number, measure: (candidate: Candidate, n: number) => Promise<Run>) => {
  const recorder = new Recorder()
  const warnings: Array<string> = []
  const bench: Bench = {
    empty: a,
    ours: b,
    peers: [],
    runs,
    idleMinutes: 1,
    recorder,
    warn: (line) => void warnings.push(line)
  }
  const order: Array<string> = []
  await takeTurns(bench, {
    figures: ["version"],
    candidates: [a, b],
    runs,
    measure: (candidate) => measure(candidate, order.push(candidate.name))
  })
  return { row: recorder.row("version"), order: order.join(""), warnings }
}

it("each is first in its turn", () => {
  assert.deepStrictEqual(
    [0, 1, 2, 3].map((turn) => inTurn(["a", "b", "c"], turn).join("")),
    ["abc", "bca", "cab", "abc"]
  )
  assert.deepStrictEqual(inTurn([], 3), [])
})

it("after a run that does not count, each has one in every turn", async () => {
  const { row, order } = await turns(3, async (_, n) => ({ values: { version: n }, waited: quiet }))
  assert.strictEqual(order, "ab" + "ab" + "ba" + "ab")
  assert.deepStrictEqual(isMeasured(row.a) && row.a.values, [3, 6, 7])
})

it("a run that waited is made again, and counted", async () => {
  const { row, order, warnings } = await turns(1, async (_, n) => ({
    values: { version: n },
    waited: n === 3 || n === 4 ? waited : quiet
  }))
  assert.strictEqual(order, "ab" + "aaab")
  assert.isTrue(isMeasured(row.a) && row.a.dropped === 2 && row.a.summary.median === 5)
  assert.isTrue(isMeasured(row.b) && row.b.dropped === 0)
  assert.deepStrictEqual(warnings, [])
})

it("a run that waits again and again is given up, and that is said", async () => {
  const { row, warnings } = await turns(2, async ({ name }) => ({
    values: { version: 1 },
    waited: name === "a" ? waited : quiet
  }))
  assert.deepStrictEqual(row.a, { reason: "no run was quiet enough", dropped: 12 })
  assert.isTrue(isMeasured(row.b) && row.b.summary.runs === 2)
  assert.deepStrictEqual(warnings, Array(2).fill("version: a run of a waited 6 times; there is one less"))
})

it("figures to which the rule does not apply are never made again", async () => {
  const { row } = await turns(2, async () => ({ values: { version: 1 } }))
  assert.isTrue(isMeasured(row.a) && row.a.dropped === 0 && row.a.summary.runs === 2)
})

it("who fails has the reason instead of a figure, and no further run", async () => {
  const { row, order } = await turns(2, async ({ name }) => {
    if (name === "a") throw new Error("it ended with 2")
    return { values: { version: 1 } }
  })
  assert.deepStrictEqual(row.a, { reason: "it ended with 2" })
  assert.strictEqual(order, "ab" + "b" + "b")
})
