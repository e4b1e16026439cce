/**
 * The record of a registrar's life, one JSON object a line: a header, then its last events. Written by the inspector, read by its page and by
 * `npm run replay`. Pure. What is not on the lists below never leaves the process, and is not read from a file either.
 *
 * An entry tells the context only where it differs from that of the entry before it; whoever reads has it in each.
 */

/** A state of the chart, or the active state of each region within one. */
export type StateValue = string | { readonly [region: string]: StateValue }

export type Plain = string | number | boolean | { readonly [key: string]: Plain }
export type Fields = Readonly<Record<string, Plain>>

export interface Header {
  /** Of the program, with a `v`. */
  readonly version: string
  /** Empty until the driver has told its name. */
  readonly driver: string
  /** Hash of the chart: two equal ones have the same states and transitions. */
  readonly chart: string
  /** When the record was taken, in milliseconds since the epoch. */
  readonly time: number
}

/** An event, the lifecycle states before and after it, and where it left the chart. */
export interface Entry {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly event: string
  readonly before: string
  readonly after: string
  readonly value: StateValue
  readonly payload: Fields
  readonly context: Fields
}

/** An entry before its lists: `payload` is the event, `context` the chart's own. Equal contexts of two events in a row are one object. */
export interface Observed extends Omit<Entry, "payload" | "context"> {
  readonly payload: object
  readonly context: object
}

/** Why a line or a file is no record. */
export interface Fault {
  readonly fault: string
}

export interface Recording {
  readonly header: Header
  /** Oldest first, `mostEntries` at most: the last ones. */
  readonly entries: ReadonlyArray<Entry>
}

export const mostEntries = 1_000

const format = 1
/** Texts of the kubelet may have megabytes. */
const longestText = 1_000
const deepestValue = 10

/** `true`: a text, a number or a yes; otherwise an object of which these fields count. */
type List = true | { readonly [key: string]: List }

const failure: List = { step: true, cause: true, advice: true }
const payloadList: List = {
  obstacle: failure,
  failure,
  name: true,
  path: true,
  tookOver: true,
  text: true,
  spread: true,
  signal: true
}
const contextList: List = {
  policy: { connectTimeoutMs: true, registrationAttempts: true, reannounceOnDriverRestart: true },
  driverName: true,
  obstacle: failure,
  failedDials: true,
  announced: true,
  losses: true,
  refusals: true,
  refusal: { text: true },
  failure,
  dumpRequested: true
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const only = (list: List, value: unknown): Plain | undefined => {
  if (list === true) {
    if (typeof value === "string") return value.length > longestText ? `${value.slice(0, longestText)}…` : value
    return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value)) ? value : undefined
  }
  return isObject(value) ? listed(list, value) : undefined
}

const listed = (list: Exclude<List, true>, value: object): Fields =>
  Object.fromEntries(
    Object.entries(list).flatMap(([key, inner]) => {
      const kept = Object.hasOwn(value, key) ? only(inner, (value as Record<string, unknown>)[key]) : undefined
      return kept === undefined ? [] : [[key, kept]]
    })
  )

/** What of an event may be seen. */
export const payloadOf = (event: object): Fields => listed(payloadList, event)

/** What of a context may be seen. */
export const contextOf = (context: object): Fields => listed(contextList, context)

/** Without a line break, as all lines here. */
export const encodeHeader = ({ version, driver, chart, time }: Header): string =>
  JSON.stringify({ record: format, version, driver, chart, time: new Date(time).toISOString() })

/** `previous` is the entry on the line before, if there is one. */
export const encodeEntry = (entry: Observed, previous?: Observed): string => {
  const { at, event, before, after, value, payload, context } = entry
  return JSON.stringify({
    at: new Date(at).toISOString(),
    event,
    before,
    after,
    value,
    payload: payloadOf(payload),
    ...(context === previous?.context ? {} : { context: contextOf(context) })
  })
}

/** Lines of the newest entries, oldest first: as many as have `limit` characters together. */
export const encodeEntries = (entries: ReadonlyArray<Observed>, limit: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let length = 0
  let first: Observed | undefined
  for (let n = entries.length - 1; n >= 0; n--) {
    const entry = entries[n] as Observed
    const line = encodeEntry(entry, entries[n - 1])
    length += line.length + 1
    if (length > limit) break
    lines.push(line)
    first = entry
  }
  // Nothing is before it that could tell its context.
  if (first !== undefined) lines[lines.length - 1] = encodeEntry(first)
  return lines.reverse()
}

export const isFault = (read: object): read is Fault => "fault" in read
export const isHeader = (read: object): read is Header => "chart" in read

/** `previous` is what the line before was read as, if that was an entry. Any text is read, or told to be none. */
export const decodeLine = (line: string, previous?: Entry): Header | Entry | Fault => {
  const read = parsed(line)
  if (!isObject(read)) return { fault: "is no JSON object" }
  return "record" in read ? readHeader(read) : readEntry(read, previous)
}

/** A whole file. */
export const decodeRecord = (text: string): Recording | Fault => {
  const entries: Array<Entry> = []
  let header: Header | undefined
  for (const [n, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue
    const read = decodeLine(line, entries.at(-1))
    if (isFault(read)) return { fault: `line ${n + 1} ${read.fault}` }
    if (isHeader(read) !== (header === undefined)) {
      return { fault: `line ${n + 1} is ${isHeader(read) ? "another header" : "no header"}` }
    }
    if (isHeader(read)) header = read
    else entries.push(read)
  }
  return header === undefined ? { fault: "is empty" } : { header, entries: entries.slice(-mostEntries) }
}

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const instant = (text: unknown): number => (typeof text === "string" ? Date.parse(text) : Number.NaN)

type Object = Readonly<Record<string, unknown>>

const readHeader = ({ record, version, driver, chart, time }: Object): Header | Fault => {
  if (record !== format) return { fault: "is the header of another kind of record" }
  const at = instant(time)
  return typeof version === "string" && typeof driver === "string" && typeof chart === "string" && !Number.isNaN(at)
    ? { version, driver, chart, time: at }
    : { fault: "is no header" }
}

const readEntry = (read: Object, previous: Entry | undefined): Entry | Fault => {
  const { event, before, after, value, payload, context } = read
  const at = instant(read.at)
  if (Number.isNaN(at) || typeof event !== "string" || typeof before !== "string" || typeof after !== "string") {
    return { fault: "is no entry" }
  }
  if (!isStateValue(value, deepestValue)) return { fault: "names no state" }
  return {
    at,
    event,
    before,
    after,
    value,
    payload: isObject(payload) ? payloadOf(payload) : {},
    context: isObject(context) ? contextOf(context) : (previous?.context ?? {})
  }
}

const isStateValue = (value: unknown, depth: number): value is StateValue =>
  typeof value === "string" ||
  (depth > 0 && isObject(value) && Object.values(value).every((inner) => isStateValue(inner, depth - 1)))
