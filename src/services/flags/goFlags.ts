/**
 * The command line in the syntax of Go's flag package: `-x` and `--x` are one, values stand behind `=` or in the next word,
 * bools take none from there, the first word that is no flag ends it all and the rest is ignored in silence.
 * Words are taken from left to right, and the first help or error ends it: `-h --nope` is help, `--nope -h` an error.
 */

import { goQuote } from "../log/goQuote.ts"
import type { Flag } from "./table.ts"

export type GoFlags =
  | { readonly kind: "help" }
  | { readonly kind: "error"; readonly reason: string }
  /** The values of the flags that were given, by name; in the order in which they came first. */
  | { readonly kind: "values"; readonly given: ReadonlyMap<string, unknown> }

/** Reads words, which do not begin with the program's name. Never throws. */
export function parseGoFlags(rows: ReadonlyArray<Flag<unknown>>, words: ReadonlyArray<string>): GoFlags {
  const known = new Map(rows.map((row) => [row.name, row]))
  const given = new Map<string, unknown>()
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ""
    if (word.length < 2 || !word.startsWith("-") || word === "--") break
    const body = word.slice(word.startsWith("--") ? 2 : 1)
    if (/^[-=]/.test(body)) return error(`bad flag syntax: ${word}`)

    const equals = body.indexOf("=")
    const name = equals < 0 ? body : body.slice(0, equals)
    let value = equals < 0 ? undefined : body.slice(equals + 1)
    const row = known.get(name)
    if (row === undefined) {
      return name === "help" || name === "h" ? { kind: "help" } : error(`flag provided but not defined: -${name}`)
    }
    if (value === undefined && row.type.isBool) value = "true"
    // Whatever the next word is: `--csi-address --version` names a socket.
    value ??= words[++at]
    if (value === undefined) return error(`flag needs an argument: -${name}`)

    const parsed = row.type.parse(value, given.has(name) ? given.get(name) : row.initial)
    const reason = "error" in parsed ? parsed.error : row.refuse?.(parsed.value)
    if (reason !== undefined) return error(refusal(row, value, reason))
    if ("value" in parsed) given.set(name, parsed.value)
  }
  return { kind: "values", given }
}

function error(reason: string): GoFlags {
  return { kind: "error", reason }
}

function refusal(row: Flag<unknown>, value: string, reason: string): string {
  return row.type.isBool
    ? `invalid boolean value ${goQuote(value)} for -${row.name}: ${reason}`
    : `invalid value ${goQuote(value)} for flag -${row.name}: ${reason}`
}
