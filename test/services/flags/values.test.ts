/** Claim: each type of flag takes what Go, klog and Kubernetes take, and refuses the rest in their words. */

import fc from "fast-check"
import { assert, describe, it } from "vitest"

import * as values from "../../../src/services/flags/values.ts"

describe("int", () => {
  it("reads every 64-bit number in every base", () => {
    const number = fc.maxSafeInteger()
    fc.assert(
      fc.property(
        number,
        fc.constantFrom([2, "0b"], [8, "0o"], [8, "0"], [10, ""], [16, "0x"]),
        (n, [base, prefix]) => {
          const literal = `${n < 0 ? "-" : ""}${prefix}${Math.abs(n).toString(base as number)}`
          const read = values.int.parse(literal, 0)
          assert.isTrue("value" in read && read.value === n, literal)
        }
      )
    )
  })

  it.each([
    ["0x10", 16],
    ["0b101", 5],
    ["0o17", 15],
    ["017", 15],
    ["1_000", 1000],
    ["0x_f", 15],
    ["+1", 1],
    ["-1", -1],
    ["0", 0],
    ["00", 0]
  ])("reads %s", (text, value) => assert.deepEqual(values.int.parse(text, 0), { value }))

  it.each(["1e3", "1.0", "08", "0x", "1__0", "_1", "1_", " 1", "1 ", "", "--1", "0b2", "abc"])("refuses %j", (text) =>
    assert.deepEqual(values.int.parse(text, 0), { error: "parse error" })
  )

  it("tells what is too large from what is no number", () => {
    assert.deepEqual(values.int.parse("99999999999999999999", 0), { error: "value out of range" })
    assert.deepEqual(values.int.parse("9223372036854775808", 0), { error: "value out of range" })
    assert.property(values.int.parse("-9223372036854775808", 0), "value")
  })
})

describe("level", () => {
  it.each(["0", "007", "2147483647"])("reads %s", (text) =>
    assert.deepEqual(values.level.parse(text, 0), { value: Number(text) })
  )

  it.each(["abc", "", "-1", "+1", "0x1", "1.5", "1_0", " 1"])("refuses %j", (text) =>
    assert.deepEqual(values.level.parse(text, 0), { error: `strconv.ParseUint: parsing "${text}": invalid syntax` })
  )

  it("refuses more than 31 bit", () =>
    assert.deepEqual(values.level.parse("2147483648", 0), {
      error: 'strconv.ParseUint: parsing "2147483648": value out of range'
    }))
})

describe("quantity", () => {
  it.each([
    ["0", 0],
    ["512", 512],
    ["1k", 1_000],
    ["2Ki", 2_048],
    ["3M", 3_000_000],
    ["1Gi", 2 ** 30],
    ["1e3", 1_000],
    ["1E3", 1_000],
    ["0.1", 1],
    ["100m", 1],
    ["1.5Ki", 1_536],
    ["0k", 0],
    ["-0", 0],
    ["-1", 0],
    ["+2", 2],
    ["4Gi", 2 ** 31],
    ["1e999999999", 2 ** 31],
    ["1e-999999999", 1]
  ])("reads %s", (text, value) => assert.deepEqual(values.quantity.parse(text, 0), { value }))

  it.each(["1K", "1Ke", "1ki", "1kk", "1e", "1e+"])("refuses the suffix of %s", (text) =>
    assert.deepEqual(values.quantity.parse(text, 0), { error: "unable to parse quantity's suffix" })
  )

  it.each(["", "abc", "0x1", "1 k", "1.2.3", "k1x"])("refuses the form of %j", (text) =>
    assert.deepEqual(values.quantity.parse(text, 0), {
      error: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    })
  )

  it("never throws, and never gives a buffer that could not be held", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."0123456789.+-eEnumkKMGTPi") }), (text) => {
        const read = values.quantity.parse(text, 0)
        return "error" in read || (read.value >= 0 && read.value <= 2 ** 31)
      })
    )
  })
})

describe("vmodule", () => {
  it("adds to what was there, and skips empty items", () => {
    const before = [{ pattern: "a", v: 1 }]
    assert.deepEqual(values.vmodule.parse(",main=2,,node_*=3,", before), {
      value: [...before, { pattern: "main", v: 2 }, { pattern: "node_*", v: 3 }]
    })
  })

  it.each([
    ["abc", '"abc" does not have the pattern=N format'],
    ["a=", '"a=" does not have the pattern=N format'],
    ["=1", '"=1" does not have the pattern=N format'],
    ["a=1=2", '"a=1=2" does not have the pattern=N format'],
    ["a=1,b", '"b" does not have the pattern=N format'],
    ["a=b", 'parsing verbosity in "a=b": strconv.ParseUint: parsing "b": invalid syntax'],
    ["a=-1", 'parsing verbosity in "a=-1": strconv.ParseUint: parsing "-1": invalid syntax']
  ])("refuses %s", (text, error) => assert.deepEqual(values.vmodule.parse(text, []), { error }))
})
