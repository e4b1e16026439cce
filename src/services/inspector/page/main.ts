/**
 * The page: follows the registrar it came from, or shows a record from a file. The chart is drawn already; only classes change. Whatever comes from
 * outside is set as text, never as markup.
 */
import { type Chart, eventName, momentAt } from "../chart.ts"
import {
  decodeLine,
  decodeRecord,
  type Entry,
  type Fields,
  type Header,
  isFault,
  isHeader,
  mostEntries,
  type Plain
} from "../record.ts"

/** Put in front by scripts/inspector/page.ts. */
declare const chart: Chart

const largestFileBytes = 64 * 1024 * 1024
/** Browsers give up on some failures; then the page tries on its own. */
const againMs = 3_000

const find = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E

const source = find("source")
const link = find("link")
const file = find<HTMLInputElement>("file")
const live = find<HTMLButtonElement>("live")
const download = find<HTMLAnchorElement>("download")
const slider = find<HTMLInputElement>("slider")
const box = find("chart")
const filter = find<HTMLInputElement>("filter")
const list = find<HTMLOListElement>("events")

let header: Header | undefined
let entries: Array<Entry> = []
let rows: Array<HTMLLIElement> = []
/** Which entry is shown; while `following`, the last one. */
let shown = -1
let following = true
let events: EventSource | undefined
let drawing = false

// --- the record -----------------------------------------------------------------------------------------------------

const clear = (next: Header | undefined) => {
  header = next
  entries = []
  rows = []
  shown = -1
  following = true
  list.replaceChildren()
}

const add = (entry: Entry) => {
  entries.push(entry)
  const row = rowOf(entry)
  row.hidden = !matches(row)
  rows.push(row)
  list.append(row)
  if (entries.length > mostEntries) {
    entries.shift()
    rows.shift()?.remove()
    if (!following) shown = Math.max(0, shown - 1)
  }
  if (following) shown = entries.length - 1
  drawSoon()
}

const say = (text: string, kind = "") => {
  link.textContent = text
  link.className = kind
}

const showRecord = (text: string, name: string): boolean => {
  const read = decodeRecord(text)
  if (isFault(read)) {
    say(`${name}: ${read.fault}`, "bad")
    return false
  }
  clear(read.header)
  for (const entry of read.entries) add(entry)
  say(`record of ${new Date(read.header.time).toISOString()}: ${name}`)
  drawSoon()
  return true
}

// --- where it comes from --------------------------------------------------------------------------------------------

const stop = () => {
  events?.close()
  events = undefined
}

/** What a server has that is there to replay a record. It knows no events to come; a registrar does, though it may have no room for one more client. */
const recordToReplay = async (): Promise<string> => {
  const events = await fetch("machine/events", { method: "HEAD" })
  if (events.status !== 404) return ""
  const record = await fetch(download.href)
  return record.ok ? record.text() : ""
}

const replay = async (asked: EventSource) => {
  const text = await recordToReplay().catch(() => "")
  if (events !== asked) return
  if (text !== "" && header === undefined && showRecord(text, "replay")) return stop()
  say("not connected, trying again; a record can be opened all the same", "bad")
  setTimeout(() => {
    if (events === asked) connect()
  }, againMs)
}

const connect = () => {
  stop()
  const opened = new EventSource("machine/events")
  events = opened
  live.hidden = true
  opened.onopen = () => say("live", "good")
  opened.onmessage = ({ data }: MessageEvent<string>) => {
    const read = decodeLine(data, entries.at(-1))
    if (isFault(read)) say(`an event of another kind: it ${read.fault}`, "bad")
    else if (isHeader(read)) clear(read)
    else add(read)
    drawSoon()
  }
  opened.onerror = () => {
    if (opened.readyState === EventSource.CLOSED) void replay(opened)
    else say("connection lost, trying again", "bad")
  }
}

const openFile = async (chosen: File | undefined) => {
  if (chosen === undefined) return
  if (chosen.size > largestFileBytes) return say(`${chosen.name} is too large for a record`, "bad")
  const text = await chosen.text()
  if (!showRecord(text, chosen.name)) return
  stop()
  live.hidden = false
}

// --- drawing --------------------------------------------------------------------------------------------------------

const element = (tag: string, text: string): HTMLElement => {
  const made = document.createElement(tag)
  made.textContent = text
  return made
}

const plainText = (value: Plain): string =>
  typeof value === "object"
    ? Object.entries(value)
        .map(([key, inner]) => `${key}: ${plainText(inner)}`)
        .join("\n")
    : String(value)

const clock = (at: number) => {
  const date = new Date(at)
  return `${date.toLocaleTimeString("en-GB")}.${String(date.getMilliseconds()).padStart(3, "0")}`
}

const rowOf = (entry: Entry): HTMLLIElement => {
  const row = document.createElement("li")
  const button = document.createElement("button")
  button.type = "button"
  const time = element("time", clock(entry.at))
  time.setAttribute("datetime", new Date(entry.at).toISOString())
  const { before, after, payload } = entry
  button.append(time, " ", element("b", eventName(entry.event)))
  button.append(element("span", before === after ? after : `${before} \u2192 ${after}`))
  if (Object.keys(payload).length > 0) button.append(element("span", plainText(payload)))
  button.onclick = () => show(rows.indexOf(row))
  row.append(button)
  return row
}

const matches = (row: HTMLElement) => {
  const text = (row.textContent ?? "").toLowerCase()
  return filter.value
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

const drawContext = (context: Fields) => {
  find("context").replaceChildren(
    ...Object.entries(context).flatMap(([key, value]) => [element("dt", key), element("dd", plainText(value))])
  )
}

/** Lights what these ids name, and nothing else. */
const light = (name: string, ids: ReadonlyArray<string>) => {
  for (const lit of document.querySelectorAll(`#picture .${name}`)) lit.classList.remove(name)
  for (const id of ids) document.getElementById(id)?.classList.add(name)
}

/** Brings a state into the middle of its box when it is not to be seen. */
const reveal = (id: string | undefined) => {
  const target = id === undefined ? null : document.getElementById(id)
  if (target === null) return
  const [inner, outer] = [target.getBoundingClientRect(), box.getBoundingClientRect()]
  const seen =
    inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top && inner.bottom <= outer.bottom
  if (seen) return
  box.scrollBy(
    (inner.left + inner.right - outer.left - outer.right) / 2,
    (inner.top + inner.bottom - outer.top - outer.bottom) / 2
  )
}

const draw = () => {
  drawing = false
  const moment = momentAt(chart, entries, shown)
  const driver = moment?.entry.context.driverName || header?.driver
  const other = header !== undefined && header.chart !== chart.hash ? " \u2013 of another version of the chart" : ""
  source.textContent = header === undefined ? "" : `${driver || "no driver yet"} \u2013 ${header.version}${other}`
  slider.max = String(Math.max(0, entries.length - 1))
  slider.value = String(Math.max(0, shown))
  slider.disabled = entries.length === 0
  const visible = rows.filter((row) => !row.hidden).length
  find("count").textContent = `${visible} of ${rows.length}`
  for (const current of list.querySelectorAll("[aria-current]")) current.removeAttribute("aria-current")
  const active = moment?.active ?? []
  const leaf = active.at(-1)
  light("on", active)
  const { taken } = moment ?? {}
  light("last", taken === undefined ? [] : [taken, `${taken}--above`, `${taken}--below`])
  drawContext(moment?.entry.context ?? {})
  find("state").textContent = moment?.entry.after ?? "no event yet"
  find("about").textContent = document.querySelector(`[id="${leaf ?? ""}"] > title`)?.textContent ?? ""
  if (moment === undefined) {
    find("moment").textContent = ""
    return
  }
  const { at, event } = moment.entry
  const place = `event ${shown + 1} of ${entries.length}: ${eventName(event)}`
  find("moment").replaceChildren(
    `${place}, `,
    element("time", `${new Date(at).toLocaleDateString("en-CA")} ${clock(at)}`)
  )
  slider.setAttribute("aria-valuetext", place)
  const row = rows[shown]
  row?.firstElementChild?.setAttribute("aria-current", "true")
  if (row !== undefined && !row.hidden) {
    const [inner, outer] = [row.getBoundingClientRect(), list.getBoundingClientRect()]
    if (inner.top < outer.top) list.scrollTop += inner.top - outer.top
    if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom
  }
  reveal(leaf)
}

/** Once a frame, however many events come. */
const drawSoon = () => {
  if (drawing) return
  drawing = true
  requestAnimationFrame(draw)
}

const show = (n: number) => {
  if (entries.length === 0) return
  shown = Math.min(entries.length - 1, Math.max(0, n))
  following = shown === entries.length - 1
  drawSoon()
}

// --- what a person does ---------------------------------------------------------------------------------------------

slider.oninput = () => show(Number(slider.value))
find("previous").onclick = () => show(shown - 1)
find("next").onclick = () => show(shown + 1)
find("latest").onclick = () => show(entries.length - 1)
live.onclick = () => {
  clear(undefined)
  connect()
}
file.onchange = () => {
  void openFile(file.files?.[0])
  // The same file may be chosen again.
  file.value = ""
}
filter.oninput = () => {
  for (const row of rows) row.hidden = !matches(row)
  drawSoon()
}
find<HTMLInputElement>("fit").onchange = ({ target }) => {
  box.classList.toggle("fit", (target as HTMLInputElement).checked)
}
document.ondragover = (event) => event.preventDefault()
document.ondrop = (event) => {
  event.preventDefault()
  void openFile(event.dataTransfer?.files[0])
}

connect()
