/** Claim: whatever help and labels hold, a reader of the text gets back what was put in; and the text is, to the byte, what Prometheus' documentation shows. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { exposition, type Family, type Sample } from "../../../src/services/metrics/exposition.ts"
import { Histogram } from "../../../src/services/metrics/Histogram.ts"
import { parseExposition } from "./parseExposition.ts"

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/)
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(fc.constantFrom("\\", "\n", '"', "n", "{", "}", ",", "=", "\r", " ", "#", "é"), { maxLength: 8 })
    .map((parts) => parts.join(""))
)
const labels = fc.dictionary(
  name.filter((key) => key !== "le"),
  text,
  { maxKeys: 4 }
)
const value = fc.oneof(
  fc.double(),
  fc.nat(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e21, 5e-324, 0)
)
const plain = fc.record({
  name,
  help: text,
  type: fc.constantFrom("counter" as const, "gauge" as const),
  samples: fc.uniqueArray(fc.record({ labels, value }), { selector: (sample) => canonical(sample.labels) })
})
const canonical = (all: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(all).sort())
const families = fc.uniqueArray(plain, { selector: (family) => family.name })

/** As they are read: names with their suffix, no minus in front of zero. */
const seen = ({ name, help, type, samples }: Family) => ({
  name,
  help,
  type,
  samples: samples.map(({ suffix = "", labels, value }: Sample) => ({
    name: name + suffix,
    labels: { ...labels },
    value: value === 0 ? 0 : value
  }))
})

describe("exposition", () => {
  it("is read back as it was", () => {
    fc.assert(
      fc.property(families, (all) => {
        assert.deepEqual(parseExposition(exposition(all)), all.map(seen))
      })
    )
  })

  it("has the bytes of the documentation", () => {
    const family: Family = {
      name: "msdos_file_access_time_seconds",
      help: "A back\\slash and\na line",
      type: "gauge",
      samples: [
        { labels: { path: "C:\\DIR\\FILE.TXT", error: 'Cannot find file:\n"FILE.TXT"' }, value: 1.458255915e9 },
        { labels: {}, value: Number.POSITIVE_INFINITY }
      ]
    }
    assert.equal(
      exposition([family]),
      `# HELP msdos_file_access_time_seconds A back\\\\slash and\\na line
# TYPE msdos_file_access_time_seconds gauge
msdos_file_access_time_seconds{path="C:\\\\DIR\\\\FILE.TXT",error="Cannot find file:\\n\\"FILE.TXT\\""} 1458255915
msdos_file_access_time_seconds +Inf
`
    )
  })

  it("of nothing is nothing", () => assert.equal(exposition([]), ""))
})

describe("a histogram", () => {
  it("counts each value in every bucket that is wide enough, whatever it is told", () => {
    const bounds = [0.1, 1, 10]
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 20, noNaN: true })), (values) => {
        const histogram = new Histogram(bounds)
        for (const each of values) histogram.observe(each)
        const samples = histogram.samples({ a: "b" })

        parseExposition(exposition([{ name: "x", help: "", type: "histogram", samples }]))
        const buckets = samples.filter(({ suffix }) => suffix === "_bucket")
        assert.deepEqual(
          buckets.map(({ labels, value }) => [labels.le, value]),
          [
            ...bounds.map((bound) => [`${bound}`, values.filter((each) => each <= bound).length]),
            ["+Inf", values.length]
          ]
        )
        const sum = samples.find(({ suffix }) => suffix === "_sum")
        assert.approximately(
          sum?.value ?? Number.NaN,
          values.reduce((all, each) => all + each, 0),
          1e-9
        )
      })
    )
  })
})

describe("the reader of these tests", () => {
  it.each([
    ["no end of line", "# HELP a x\n# TYPE a gauge\na 1"],
    ["no help", "# TYPE a gauge\na 1\n"],
    ["no type", "# HELP a x\na 1\n"],
    ["a family twice", "# HELP a x\n# TYPE a gauge\na 1\n# HELP a x\n# TYPE a gauge\n"],
    ["a series twice", '# HELP a x\n# TYPE a gauge\na{b="1"} 1\na{b="1"} 2\n'],
    ["another name", "# HELP a x\n# TYPE a gauge\nb 1\n"],
    ["a quote in a label", '# HELP a x\n# TYPE a gauge\na{b="""} 1\n'],
    ["a lonely backslash", '# HELP a x\n# TYPE a gauge\na{b="\\x"} 1\n'],
    ["a value that is none", "# HELP a x\n# TYPE a gauge\na one\n"],
    ["a histogram without its last bucket", '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 1\na_sum 1\na_count 1\n'],
    [
      "buckets that descend",
      '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n'
    ]
  ])("refuses %s", (_, bad) => assert.throws(() => parseExposition(bad)))
})
