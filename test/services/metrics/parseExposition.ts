/**
 * A strict reader of Prometheus' text format 0.0.4: families in one piece each, help and type first, no name and no series twice, histograms that add up.
 * Whatever is not so is thrown, with the line.
 */

export interface ParsedSample {
  /** With its suffix. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface ParsedFamily {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly samples: ReadonlyArray<ParsedSample>
}

const suffixes = ["_bucket", "_sum", "_count"]

export const parseExposition = (text: string): ReadonlyArray<ParsedFamily> => {
  if (text !== "" && !text.endsWith("\n")) throw new Error("the last line does not end")
  const families: Array<ParsedFamily & { readonly samples: Array<ParsedSample> }> = []
  const lines = text.split("\n").slice(0, -1)
  for (let at = 0; at < lines.length; ) {
    const [, name = "", help = ""] = expected(/^# HELP ([a-zA-Z_]\w*) (.*)$/s, lines[at++])
    const [, typed, type = ""] = expected(/^# TYPE ([a-zA-Z_]\w*) (counter|gauge|histogram)$/, lines[at++])
    if (typed !== name) throw new Error(`help of ${name}, then type of ${typed}`)
    if (families.some((family) => family.name === name)) throw new Error(`${name} comes twice`)
    const samples: Array<ParsedSample> = []
    for (; at < lines.length && !lines[at]?.startsWith("#"); at++) samples.push(parseSample(lines[at] ?? ""))
    const allowed = type === "histogram" ? suffixes.map((suffix) => name + suffix) : [name]
    const stray = samples.find((sample) => !allowed.includes(sample.name))
    if (stray !== undefined) throw new Error(`${stray.name} is no sample of ${name}`)
    if (new Set(samples.map(seriesOf)).size !== samples.length) throw new Error(`${name} has a series twice`)
    if (type === "histogram") checkHistogram(name, samples)
    families.push({ name, help: unescaped(help, /\\([\\n])/g), type, samples })
  }
  return families
}

/** A sample without its value. */
export const seriesOf = ({ name, labels }: ParsedSample): string =>
  `${name}${JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))}`

const expected = (pattern: RegExp, line = "the end"): RegExpExecArray => {
  const match = pattern.exec(line)
  if (match === null) throw new Error(`${JSON.stringify(line)} does not match ${pattern}`)
  return match
}

const label = String.raw`[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"`
const sample = new RegExp(String.raw`^([a-zA-Z_]\w*)(?:\{(${label}(?:,${label})*)\})? (\S+)$`)
const number = /^(?:[+-]Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]\d+)?)$/

const parseSample = (line: string): ParsedSample => {
  const [, name = "", pairs = "", shown = ""] = expected(sample, line)
  expected(number, shown)
  const found = [...pairs.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
  const labels = Object.fromEntries(found.map(([, key = "", value = ""]) => [key, unescaped(value, /\\(["\\n])/g)]))
  if (Object.keys(labels).length !== found.length) throw new Error(`${line} has a label twice`)
  return { name, labels, value: Number(shown.replace("Inf", "Infinity")) }
}

const unescaped = (text: string, escape: RegExp) =>
  text.replace(escape, (_, character: string) => (character === "n" ? "\n" : character))

/** Buckets ascend to +Inf, which holds as many as `_count`. */
const checkHistogram = (name: string, samples: ReadonlyArray<ParsedSample>) => {
  const groups = Map.groupBy(samples, ({ labels: { le: _, ...rest } }) => JSON.stringify(rest))
  for (const group of groups.values()) {
    const of = (suffix: string) => group.filter((each) => each.name === name + suffix)
    const buckets = of("_bucket").map(
      ({ labels, value }) => [Number(labels.le?.replace("Inf", "Infinity")), value] as const
    )
    const ascend = buckets.every(([bound, value], n) => {
      const [boundBefore, before] = buckets[n - 1] ?? [Number.NEGATIVE_INFINITY, 0]
      return bound > boundBefore && value >= before
    })
    const [last] = buckets.slice(-1)
    const [count] = of("_count")
    const sound = last?.[0] === Number.POSITIVE_INFINITY && last[1] === count?.value && of("_sum").length === 1
    if (!ascend || !sound) throw new Error(`the buckets of ${name} do not add up`)
  }
}
