/** Claim: `--vmodule` picks source files as klog does, by patterns of Go's filepath.Match. */

import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { globOf, vmoduleLevel } from "../../../src/services/log/vmodule.ts"

describe("vmoduleLevel", () => {
  const level = vmoduleLevel([
    { pattern: "main", v: 0 },
    { pattern: "main", v: 5 },
    { pattern: "node_*", v: 2 },
    { pattern: "*", v: 1 }
  ])

  it("takes the first match, and no notice of items with 0", () => {
    assert.equal(level("main.go:145"), 5)
    assert.equal(level("node_register.go:56"), 2)
    assert.equal(level("connection/connection.go:234"), 1)
  })

  it("knows our own files by their name too", () =>
    assert.equal(vmoduleLevel([{ pattern: "registrar", v: 3 }])("registrar.ts:10"), 3))

  it("has no level for what matches nothing", () =>
    assert.equal(vmoduleLevel([{ pattern: "Main", v: 3 }])("main.go:1"), -1))
})

describe("globOf", () => {
  it.each([
    ["m?in", "main", true],
    ["m*n", "main", true],
    ["*", "", true],
    ["[a-m]ain", "main", true],
    ["[^a-c]ain", "main", true],
    ["[^m]ain", "main", false],
    ["[mn]ain", "nain", true],
    ["\\*", "*", true],
    ["\\*", "x", false],
    ["a.c", "abc", false],
    ["]", "]", true],
    ["[c-a]", "b", false],
    ["[^c-a]", "b", true]
  ])("%s on %s: %s", (pattern, name, matches) => assert.equal(globOf(pattern)?.test(name), matches))

  it.each(["[", "[]", "[^]", "[a-]", "[-a]", "[]a]", "\\", "[a"])("%s is malformed and matches nothing", (pattern) =>
    assert.isUndefined(globOf(pattern))
  )

  it("never throws, and a plain name matches itself only", () => {
    fc.assert(fc.property(fc.string(), (pattern) => globOf(pattern) instanceof RegExp || true))
    const name = fc.string().filter((each) => !/[*?[\\]/.test(each))
    fc.assert(fc.property(name, name, (a, b) => globOf(a)?.test(b) === (a === b)))
  })
})
