/** Claim: a record is read as it was written, holds nothing that is not on its lists, keeps to its size, and no text breaks its reader. */
import fc from "fast-check"
import { assert, describe, it } from "vitest"

import {
  contextOf,
  decodeLine,
  decodeRecord,
  encodeEntries,
  encodeEntry,
  encodeHeader,
  type Entry,
  type Header,
  isFault,
  mostEntries,
  type Observed,
  payloadOf,
  type StateValue
} from "../../../src/services/inspector/record.ts"

const text = fc.string({ unit: "binary", maxLength: 40 })
const instant = fc.integer({ min: 0, max: 4_102_444_800_000 })
const failure = fc.record({ step: text, cause: text, advice: text, facts: fc.dictionary(text, text) })
const payload = fc.record(
  {
    type: text,
    obstacle: failure,
    failure,
    name: text,
    path: text,
    tookOver: fc.boolean(),
    text,
    spread: fc.integer(),
    signal: text,
    token: text
  },
  { requiredKeys: [] }
)
const context = fc.record(
  {
    driverName: text,
    obstacle: fc.option(failure, { nil: undefined }),
    losses: fc.nat(),
    announced: fc.boolean(),
    refusal: fc.record({ text, spread: fc.double() }),
    secret: text
  },
  { requiredKeys: ["driverName"] }
)
const { value } = fc.letrec<{ value: StateValue }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, text, fc.dictionary(text, tie("value"), { maxKeys: 3 }))
}))
const entry = fc.record({ at: instant, event: text, before: text, after: text, value, payload, context })
/** Some contexts are those of the entry before, as the chart's are. */
const observed: fc.Arbitrary<ReadonlyArray<Observed>> = fc
  .array(fc.tuple(entry, fc.boolean()), { maxLength: 20 })
  .map((all) => {
    let last: object = {}
    return all.map(([one, same], n) => {
      if (!same || n === 0) last = one.context
      return { ...one, context: last }
    })
  })
const header: fc.Arbitrary<Header> = fc.record({ version: text, driver: text, chart: text, time: instant })

const seen = (entry: Observed): Entry => ({
  ...entry,
  payload: payloadOf(entry.payload),
  context: contextOf(entry.context)
})

/** As JSON has it: no negative zero, and objects without a prototype are objects. */
const plain = (data: unknown): unknown => JSON.parse(JSON.stringify(data))

const decoded = (file: string) => {
  const read = decodeRecord(file)
  if (isFault(read)) throw new Error(read.fault)
  return read
}

const noLimit = Number.POSITIVE_INFINITY

describe("a record", () => {
  it("is read as it was written, a context for each entry", () => {
    fc.assert(
      fc.property(header, observed, (header, entries) => {
        const file = `${[encodeHeader(header), ...encodeEntries(entries, noLimit)].join("\n")}\n`
        assert.deepEqual(plain(decoded(file)), plain({ header, entries: entries.map(seen) }))
      })
    )
  })

  it("is one object a line", () => {
    fc.assert(fc.property(entry, (entry) => assert.notMatch(encodeEntry(entry), /[\r\n]/)))
  })

  it("tells a context once, and again in the first line of what is left", () => {
    const shared = { driverName: "a.example.com" }
    const one = { at: 0, event: "x", before: "a", after: "b", value: "b", payload: {}, context: shared }
    const contexts = (limit: number) => encodeEntries([one, one, one], limit).map((line) => line.includes("driverName"))
    assert.deepEqual(contexts(noLimit), [true, false, false])
    assert.deepEqual(contexts(2 * (encodeEntry(one, one).length + 1)), [true, false])
    assert.deepEqual(contexts(0), [])
  })

  it("within a limit holds the newest, and as many as fit", () => {
    fc.assert(
      fc.property(observed, fc.nat(4_000), (entries, limit) => {
        const lines = encodeEntries(entries, limit)
        const first = entries.length - lines.length
        assert.deepEqual(lines, encodeEntries(entries.slice(first), noLimit))
        const lengths = entries.map((entry, n) => encodeEntry(entry, entries[n - 1]).length + 1)
        const from = (n: number) => lengths.slice(n).reduce((sum, length) => sum + length, 0)
        assert.isAtMost(from(first), limit)
        if (first > 0) assert.isAbove(from(first - 1), limit)
      })
    )
  })
})

describe("the lists", () => {
  const secret = "s3cr3t"
  /** Whatever hides at a key that is on no list. */
  const poisoned = (base: fc.Arbitrary<object>) =>
    fc
      .tuple(
        base,
        fc.string().filter((key) => !/^(obstacle|failure|name|path|text|signal|spread|tookOver)$/.test(key))
      )
      .map(([object, key]) => ({
        ...object,
        [`x-${key}`]: secret,
        obstacle: { step: "connecting", cause: "", advice: "", facts: { secret }, [`x-${key}`]: { secret } },
        name: { secret },
        policy: { secret, registrationAttempts: [secret] },
        refusal: { text: "no", raw: secret }
      }))

  it("let nothing else pass, at any depth", () => {
    fc.assert(
      fc.property(entry, poisoned(payload), poisoned(context), (entry, payload, context) => {
        const line = encodeEntry({ ...entry, payload, context })
        assert.notInclude(line, secret)
      })
    )
  })

  it("hold for what is read, too", () => {
    const line = JSON.stringify({
      at: "2026-01-01T00:00:00.000Z",
      event: "x",
      before: "a",
      after: "b",
      value: "b",
      payload: { secret, name: [secret], text: "no" },
      context: { secret, obstacle: secret }
    })
    const read = decodeLine(line)
    assert.deepEqual("payload" in read && [read.payload, read.context], [{ text: "no" }, {}])
  })

  it("cut what is too long", () => {
    const { text } = payloadOf({ text: "x".repeat(5_000_000) })
    assert.equal(text, `${"x".repeat(1_000)}…`)
  })
})

describe("the reader", () => {
  it("takes any text, and says what is wrong with it", () => {
    const line = fc.oneof(
      fc.json(),
      fc.string(),
      fc.record({ record: fc.anything(), time: fc.anything() }).map((data) => JSON.stringify(data) ?? ""),
      entry.map((one) => encodeEntry(one))
    )
    fc.assert(fc.property(fc.array(line), (lines) => void decodeRecord(lines.join("\n"))))
  })

  const good = encodeHeader({ version: "v1", driver: "", chart: "abc", time: 0 })
  const event = encodeEntry({ at: 0, event: "x", before: "a", after: "a", value: "a", payload: {}, context: {} })
  it.each([
    ["", "is empty"],
    ["\n\n", "is empty"],
    ["hello", "line 1 is no JSON object"],
    ["[]", "line 1 is no entry"],
    [event, "line 1 is no header"],
    [`${good}\n${good}`, "line 2 is another header"],
    [`${good}\n${event}\n{"at":`, "line 3 is no JSON object"],
    [`${good}\n${event.replace("1970", "never")}`, "line 2 is no entry"],
    [`${good}\n${event.replace('"value":"a"', '"value":7')}`, "line 2 names no state"],
    [good.replace('"record":1', '"record":2'), "line 1 is the header of another kind of record"],
    [good.replace('"v1"', "1"), "line 1 is no header"]
  ])("of %j says %j", (file, fault) => assert.deepEqual(decodeRecord(file), { fault }))

  it("is not led too deep", () => {
    const deep = `${'{"a":'.repeat(100_000)}"a"${"}".repeat(100_000)}`
    assert.isTrue(isFault(decodeLine(event.replace('"value":"a"', `"value":${deep}`))))
  })

  it("keeps the last entries of a long file", () => {
    const lines = Array.from({ length: mostEntries + 5 }, (_, n) => event.replace('"x"', `"${n}"`))
    const { entries } = decoded([good, ...lines].join("\n"))
    assert.equal(entries.length, mostEntries)
    assert.equal(entries[0]?.event, "5")
  })
})
