/** Claim: the command line means what its help says, and what it does not understand is told in a line. */
import { assert, it } from "@effect/vitest"

import { optionsOf, usage } from "../../bench/arguments.ts"
import { figureNames } from "../../bench/figures.ts"

it("without a word everything is measured, with the usual runs", () => {
  assert.deepStrictEqual(optionsOf([]), {
    figures: figureNames,
    named: false,
    peers: [],
    runs: 11,
    idleMinutes: 10,
    check: false,
    json: undefined,
    record: false
  })
})

it("names pick figures, of a subject all of them, in the order of the table", () => {
  const options = optionsOf(["stop", "limit32", "--runs", "3", "memory", "--peer", "/a", "--peer=/b", "--check"])
  assert.deepStrictEqual(options?.figures, ["memory", "limit32.registered", "limit32.probe", "limit32.kills", "stop"])
  assert.deepStrictEqual(options?.peers, ["/a", "/b"])
  assert.strictEqual(options?.runs, 3)
  assert.isTrue(options?.check)
})

const wrong = [
  [["speed"], "no such figure: speed"],
  [["--runs", "0"], "--runs 0"],
  [["--runs", "2.5"], "--runs 2.5"],
  [["--idle-minutes", "soon"], "--idle-minutes soon"],
  [["--fast"], "--fast"],
  [["stop", "--record"], "leave out the names"]
] as const

for (const [args, message] of wrong) {
  it(`refused: ${args.join(" ")}`, () => assert.throws(() => optionsOf(args), message))
}

it("help names every figure", () => {
  assert.isUndefined(optionsOf(["--help"]))
  for (const name of figureNames) assert.include(usage, name)
})
