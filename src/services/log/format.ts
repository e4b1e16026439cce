/**
 * The two shapes of a line: klog's structured text and component-base's JSON, character for character. Pure.
 * Nothing here throws, whatever a value is: a log line must not be what ends the process.
 */

import { goQuote } from "./goQuote.ts"
import type { Line } from "./Log.ts"

/** What is printed after the message, in this order. An `err` may be an Error or a text. */
export type Values = Readonly<Record<string, unknown>>

/** Directory that JSON callers show for lines which do not name their own. */
const PROGRAM = "csi-node-driver-registrar"

/** klog text, in local time; `ms` is the time since the epoch, its fraction gives the microseconds. */
export function textLine(line: Line, values: Values, ms: number, pid: number): string {
  const file = line.caller.slice(line.caller.lastIndexOf("/") + 1)
  let text = `${line.severity === "error" ? "E" : "I"}${klogTime(ms)} ${String(pid).padStart(7)} ${file}] ${goQuote(line.message)}`
  if (line.severity === "error" && values.err != null) text += ` err${textValue(values.err)}`
  for (const [key, value] of pairs(line, values)) text += ` ${key}${textValue(value)}`
  return `${text}\n`
}

/** One JSON object. There is no severity in it: an error is known by its missing `v`, as in the original. */
export function jsonLine(line: Line, values: Values, ms: number): string {
  const caller = line.caller.includes("/") ? line.caller : `${PROGRAM}/${line.caller}`
  let json = `{"ts":${ms},"caller":${toJson(caller)},"msg":${toJson(line.message)}`
  if (line.severity === "info") json += `,"v":${line.v}`
  for (const [key, value] of pairs(line, values)) json += `,${toJson(key)}:${toJson(plain(value))}`
  if (line.severity === "error" && values.err != null) json += `,"err":${toJson(plain(values.err))}`
  return `${json}}\n`
}

/** On an error line `err` has a place of its own; on others it is a value like any. */
function pairs(line: Line, values: Values): Array<[string, unknown]> {
  const all = Object.entries(values)
  return line.severity === "error" ? all.filter(([key]) => key !== "err") : all
}

function klogTime(ms: number): string {
  const micros = Math.floor(ms * 1000)
  const at = new Date(Math.floor(micros / 1000))
  const two = (n: number) => String(n).padStart(2, "0")
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  return `${two(at.getMonth() + 1)}${two(at.getDate())} ${clock}.${String(micros % 1_000_000).padStart(6, "0")}`
}

/** `=value`, or a block with one indented line for each line of the text. */
function textValue(value: unknown): string {
  const bare = plain(value)
  if (typeof bare !== "string") return `=${toJson(bare)}`
  if (!bare.includes("\n")) return `=${goQuote(bare)}`
  const lines = (bare.endsWith("\n") ? bare.slice(0, -1) : bare).split("\n")
  return `=<\n${lines.map((each) => `\t${each}\n`).join("")} >`
}

function plain(value: unknown): unknown {
  return value instanceof Error ? value.message : (value ?? null)
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? Number(inner) : inner)) ?? "null"
  } catch {
    return '"<cannot be shown>"'
  }
}
