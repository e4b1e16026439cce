/** Claim: quoted text is Go's: one line, printable as it was, and nothing of it is lost. */

import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { goQuote } from "../../../src/services/log/goQuote.ts"

const LETTERS: Record<string, string> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }

/** Reads the notation back; the other half of the round trip. */
function unquote(quoted: string): string {
  return quoted
    .slice(1, -1)
    .replace(/\\(?:x(..)|u(.{4})|U(.{8})|(.))/gsu, (_, x?: string, u?: string, U?: string, char = "") => {
      const code = x ?? u ?? U
      return code === undefined ? (LETTERS[char] ?? char) : String.fromCodePoint(Number.parseInt(code, 16))
    })
}

describe("goQuote", () => {
  it("can be read back, whatever the text", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.string())
    fc.assert(fc.property(text, (each) => unquote(goQuote(each)) === each.toWellFormed()))
  })

  it("holds no character that could break a line or hide", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(goQuote(text))))
  })

  it.each([
    ["", '""'],
    ["plain text", '"plain text"'],
    ['é"\n', '"é\\"\\n"'],
    ["a\\b\t", '"a\\\\b\\t"'],
    ["\x01\x7f", '"\\x01\\x7f"'],
    ["\u200b\u00a0", '"\\u200b\\u00a0"'],
    ["\u{10ffff}", '"\\U0010ffff"'],
    ["日本 😀 \ufffd", '"日本 😀 \ufffd"'],
    ["\ud800", '"\\ufffd"']
  ])("of %j is %s", (text, quoted) => assert.equal(goQuote(text), quoted))
})
