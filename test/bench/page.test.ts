/** Claim: docs/performance.md shows the run that lies beside it, as the bench would write it today. */
import * as fs from "node:fs"

import { assert, it } from "@effect/vitest"

import { kept, lastResults, pageFile, withResults } from "../../bench/page.ts"
import { measured, resultsOf } from "./results.ts"

it("the page's tables are those of the last run (or run `node bench/page.ts`)", () => {
  const page = fs.readFileSync(pageFile, "utf8")
  assert.isTrue(page === withResults(page, lastResults()))
})

it("single runs are not kept", () => {
  const { rows } = kept(resultsOf({ memory: { ours: measured(1, 2), peer: { reason: "none" } } }))
  const { summary, dropped } = measured(1, 2)
  assert.deepStrictEqual(rows, { memory: { ours: { summary, dropped }, peer: { reason: "none" } } })
})

it("a page that has lost a place is refused", () => {
  assert.throws(() => withResults("# Performance\n", lastResults()), "docs/performance.md has lost the place")
})
