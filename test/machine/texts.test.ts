/** Claim: whatever others say is one line where a line is wanted, well-formed, and no longer than it may be. */
import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { inOneLine, shortened, shortLine } from "../../src/machine/texts.ts"

const text = fc.string({
  unit: fc.constantFrom("a", "\n", "\r", "\u001b", "\u2028", "\u009b", "\ud800", "😀", '"', "\\"),
  maxLength: 60
})
const steers = /[\0-\x1f\x7f-\x9f\u2028\u2029]/

describe("a text of others", () => {
  it("is one line that steers no terminal", () => {
    fc.assert(fc.property(text, (any) => assert.notMatch(inOneLine(any), steers)))
    assert.equal(inOneLine("a\r\n\tb\u001b[2J <script>\n"), "a b\\u001b[2J <script>")
  })

  it("stays as it is where it is short, and ends in … where it is not", () => {
    fc.assert(
      fc.property(text, fc.nat(80), (any, length) => {
        const short = shortened(any, length)
        assert.isTrue(short.isWellFormed())
        assert.isAtMost(short.length, length + 1)
        if (any.length <= length) assert.equal(short, any.toWellFormed())
        else assert.isTrue(short.endsWith("…"))
      })
    )
  })

  it("is a short line", () => {
    fc.assert(
      fc.property(text, fc.nat(80), (any, length) => {
        const line = shortLine(any, length)
        assert.isAtMost(line.length, length + 1)
        assert.notMatch(line, steers)
        assert.equal(line.endsWith("…"), any.length > length || inOneLine(any).length > length)
      })
    )
  })
})
