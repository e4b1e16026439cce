/** Claim: words are taken as Go's flag package takes them, whatever they are. */

import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { parseGoFlags } from "../../../src/services/flags/goFlags.ts"
import { type Flag, flags, klogFlags } from "../../../src/services/flags/table.ts"

const rows = [...Object.values<Flag<unknown>>(flags), ...klogFlags]
const parse = (...words: Array<string>) => parseGoFlags(rows, words)

function given(...words: Array<string>): Record<string, unknown> {
  const read = parse(...words)
  assert.equal(read.kind, "values", JSON.stringify(read))
  return read.kind === "values" ? Object.fromEntries(read.given) : {}
}

function reason(...words: Array<string>): string {
  const read = parse(...words)
  return read.kind === "error" ? read.reason : read.kind
}

describe("any command line", () => {
  const name = fc.constantFrom(...rows.map((row) => row.name), "nope", "constructor", "__proto__", "h", "help", "", "=")
  const word = fc.oneof(
    fc
      .tuple(fc.constantFrom("", "-", "--", "---"), name, fc.option(fc.string(), { nil: undefined }))
      .map(([dashes, flag, value]) => `${dashes}${flag}${value === undefined ? "" : `=${value}`}`),
    fc.string()
  )

  it("is values, help or a reason of one line, never an exception", () => {
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const read = parseGoFlags(rows, words)
        // A word that is no flag is repeated as it is, and may be anything.
        return read.kind !== "error" || words.some((each) => each.includes("\n")) || !read.reason.includes("\n")
      })
    )
  })

  it("means the same with one dash and with two, with = and in two words", () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        for (const words of [[`-mode=${value}`], [`--mode=${value}`], ["-mode", value], ["--mode", value]]) {
          assert.deepEqual(given(...words), { mode: value })
        }
      })
    )
  })

  it("keeps the last of several values", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (ports) => {
        assert.deepEqual(given(...ports.map((port) => `--health-port=${port}`)), { "health-port": ports.at(-1) })
      })
    )
  })

  it("ends at the first word that is no flag", () => {
    const stop = fc.oneof(
      fc.constantFrom("--", "-", ""),
      fc.string().filter((text) => !text.startsWith("-"))
    )
    fc.assert(
      fc.property(stop, fc.array(word), (end, ignored) => {
        assert.deepEqual(given("--version", end, ...ignored), { version: true })
      })
    )
  })
})

describe("values", () => {
  it("takes the next word whatever it is", () =>
    assert.deepEqual(given("--csi-address", "--mode=x"), { "csi-address": "--mode=x" }))

  it("never takes the next word for a bool", () => assert.deepEqual(given("--version", "false"), { version: true }))

  it.each(["1", "t", "T", "true", "TRUE", "True"])("takes %s as true", (word) =>
    assert.deepEqual(given(`-version=${word}`), { version: true })
  )

  it.each(["0", "f", "F", "false", "FALSE", "False"])("takes %s as false", (word) =>
    assert.deepEqual(given(`-version=${word}`), { version: false })
  )

  it("keeps what stands behind the first =", () => assert.deepEqual(given("--mode=a=b"), { mode: "a=b" }))

  it("adds up --vmodule", () =>
    assert.deepEqual(given("--vmodule=a=1", "--vmodule", "b=2"), {
      vmodule: [
        { pattern: "a", v: 1 },
        { pattern: "b", v: 2 }
      ]
    }))
})

describe("refusals", () => {
  it.each([
    [["---x"], "bad flag syntax: ---x"],
    [["-=x"], "bad flag syntax: -=x"],
    [["--=x"], "bad flag syntax: --=x"],
    [["--="], "bad flag syntax: --="],
    [["--nope"], "flag provided but not defined: -nope"],
    [["-nope=1"], "flag provided but not defined: -nope"],
    [["-constructor=1"], "flag provided but not defined: -constructor"],
    [["--Version"], "flag provided but not defined: -Version"],
    [["--csi_address=x"], "flag provided but not defined: -csi_address"],
    [["--timeout"], "flag needs an argument: -timeout"],
    [["--v"], "flag needs an argument: -v"],
    [["--mode"], "flag needs an argument: -mode"],
    [["--timeout=abc"], 'invalid value "abc" for flag -timeout: parse error'],
    [["--timeout=5"], 'invalid value "5" for flag -timeout: parse error'],
    [["--timeout="], 'invalid value "" for flag -timeout: parse error'],
    [["--health-port=1e3"], 'invalid value "1e3" for flag -health-port: parse error'],
    [
      ["--health-port=99999999999999999999"],
      'invalid value "99999999999999999999" for flag -health-port: value out of range'
    ],
    [["--version=maybe"], 'invalid boolean value "maybe" for -version: parse error'],
    [["--enable-pprof=tRUE"], 'invalid boolean value "tRUE" for -enable-pprof: parse error'],
    [["--log-text-split-stream="], 'invalid boolean value "" for -log-text-split-stream: parse error'],
    [["--v=abc"], 'invalid value "abc" for flag -v: strconv.ParseUint: parsing "abc": invalid syntax'],
    [
      ["--v=2147483648"],
      'invalid value "2147483648" for flag -v: strconv.ParseUint: parsing "2147483648": value out of range'
    ],
    [["--vmodule=abc"], 'invalid value "abc" for flag -vmodule: "abc" does not have the pattern=N format'],
    [
      ["--vmodule=a=b"],
      'invalid value "a=b" for flag -vmodule: parsing verbosity in "a=b": strconv.ParseUint: parsing "b": invalid syntax'
    ],
    [
      ["--log-json-info-buffer-size=1K"],
      'invalid value "1K" for flag -log-json-info-buffer-size: unable to parse quantity\'s suffix'
    ],
    [
      ["--automaxprocs=foo"],
      'invalid boolean value "foo" for -automaxprocs: strconv.ParseBool: parsing "foo": invalid syntax'
    ],
    [['--timeout=é"\n'], 'invalid value "é\\"\\n" for flag -timeout: parse error'],
    [["--log_file_max_size=-1"], 'invalid value "-1" for flag -log_file_max_size: parse error'],
    [["--logtostderr=x"], 'invalid boolean value "x" for -logtostderr: parse error'],
    [["--probe=ready"], 'invalid value "ready" for flag -probe: must be alive or registered'],
    [
      ["--registration-attempts=-1"],
      'invalid value "-1" for flag -registration-attempts: must not be negative; 0 means no limit'
    ],
    [
      ["--csi-connect-timeout=-1ns"],
      'invalid value "-1ns" for flag -csi-connect-timeout: must not be negative; 0 means for ever'
    ],
    [["-h"], "help"],
    [["--help=false"], "help"],
    [["-h", "--nope"], "help"],
    [["--nope", "-h"], "flag provided but not defined: -nope"],
    [["--version", "--nope"], "flag provided but not defined: -nope"]
  ])("answers %j", (words, expected) => assert.equal(reason(...words), expected))
})
