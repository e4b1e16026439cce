/** Prometheus' text format, version 0.0.4: from families to the text of a scrape, and nothing else. */

export interface Sample {
  /** Of a histogram: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  /** A name of Prometheus: letters, digits and underscores. */
  readonly name: string
  readonly help: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly samples: ReadonlyArray<Sample>
}

/** Help and label values may hold any text. */
export const exposition = (families: ReadonlyArray<Family>): string => families.map(familyText).join("")

const familyText = ({ name, help, type, samples }: Family) =>
  `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${samples.map((sample) => sampleText(name, sample)).join("")}`

const sampleText = (name: string, { suffix = "", labels, value }: Sample) => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}${suffix}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${numberText(value)}\n`
}

/** Also the text of a bucket's bound. */
export const numberText = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return "+Inf"
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value)
}

const escapeHelp = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
/** Hardly any value needs it, and there are a hundred in a scrape. */
const escapeLabel = (text: string) => (/[\\\n"]/.test(text) ? escapeHelp(text).replaceAll('"', '\\"') : text)
