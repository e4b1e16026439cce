/** Claim: `--check` fails for every figure of ours that breaks a must or is not there, with a line that says which, and for nothing else. */
import { assert, it } from "@effect/vitest"

import { broken, missing } from "../../bench/results.ts"
import { measured, recorded, resultsOf } from "./results.ts"

it("a must is held by ours at its limit, an aim need not be", () => {
  const rows = {
    registered: { ours: measured(90), empty: measured(20) },
    memory: { ours: measured(16) },
    stop: { ours: measured(50, 100) },
    getInfo: { ours: measured(...Array(99).fill(7), 500) }
  }
  assert.deepStrictEqual([...missing(resultsOf(rows)), ...broken(resultsOf(rows))], [])
})

it("a broken must is told with its figure and its limit", () => {
  const rows = {
    registered: { ours: measured(100), empty: measured(20) },
    memory: { ours: measured(17) },
    stop: { ours: measured(5, 100.4) }
  }
  assert.deepStrictEqual(broken(resultsOf(rows)), [
    "registered: median 5 × empty, at most 4.5",
    "memory: median 17 MiB, at most 16",
    "stop: worst 100 ms, at most 100"
  ])
})

it("what could not be measured fails, of ours and not of a peer", () => {
  const rows = {
    // Nothing to compare with.
    version: { ours: measured(10) },
    memory: { ours: measured(10), peer: { reason: "it ended with 2" } },
    "image.amd64": { ours: { reason: "it has not been built" } },
    stop: { ours: { reason: "no run was quiet enough", dropped: 9 } },
    idle: {}
  }
  assert.deepStrictEqual(missing(resultsOf(rows)), [
    "stop: not measured: no run was quiet enough",
    "image.amd64: not measured: it has not been built",
    "idle: not measured: nothing was recorded"
  ])
  assert.notInclude(missing(resultsOf(rows), true).join(), "quiet")
  assert.deepStrictEqual(broken(resultsOf(rows)), ["version: median NaN × empty, at most 1.3"])
})

it("a reason stands instead of what was recorded before it", () => {
  const recorder = recorded((recorder) => {
    recorder.record("stop", "ours", 3)
    recorder.record("stop", "peer", 3)
    recorder.drop("stop", "peer")
    recorder.cannot("stop", "ours", "its socket is still there")
  })
  assert.deepStrictEqual(recorder.row("stop"), {
    ours: { reason: "its socket is still there" },
    peer: { ...measured(3), dropped: 1 }
  })
})
