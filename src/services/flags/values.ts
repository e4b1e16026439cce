/**
 * The types a flag can have: how its text is read, which words a refusal uses, how a default is shown. They are those of
 * Go's flag package, of klog and of component-base, since people paste what worked there.
 */

import { goQuote } from "../log/goQuote.ts"
import type { VmoduleItem } from "../log/vmodule.ts"
import { formatDuration, parseDuration } from "./duration.ts"
import { parseQuantity } from "./quantity.ts"

/** A value, or the reason that follows the flag's name in the refusal. */
export type Parsed<A> = { readonly value: A } | { readonly error: string }

// Methods, not functions as properties: a table of flags of many types is read as one of Flag<unknown>.
export interface ValueType<A> {
  /** Stands behind the name in `--help`; empty for flags that need no value. */
  readonly word: string
  /** The word in the README's table. */
  readonly name: string
  /** How `show` prints the value that `--help` does not call a default. */
  readonly zero: string
  /** Needs no value, and takes none from the next word. */
  readonly isBool?: true
  /** `before` is the value so far, for flags that add up when they are repeated. */
  parse(text: string, before: A): Parsed<A>
  show(value: A): string
}

const SYNTAX: Parsed<never> = { error: "parse error" }
const RANGE: Parsed<never> = { error: "value out of range" }

export const text: ValueType<string> = {
  word: "string",
  name: "string",
  zero: '""',
  parse: (word) => ({ value: word }),
  show: goQuote
}

/** One of a few words. Not a type of Go; the refusal lists them. */
export function choice<A extends string>(words: ReadonlyArray<A>): ValueType<A> {
  return {
    word: "string",
    name: words.map((word) => `\`${word}\``).join(" or "),
    zero: '""',
    parse: (given) => {
      const value = words.find((word) => word === given)
      return value === undefined ? { error: `must be ${words.join(" or ")}` } : { value }
    },
    show: goQuote
  }
}

const BOOLS = new Map(
  [true, false].flatMap((value) =>
    (value ? ["1", "t", "T", "true", "TRUE", "True"] : ["0", "f", "F", "false", "FALSE", "False"]).map(
      (word) => [word, value] as const
    )
  )
)

export const bool: ValueType<boolean> = {
  word: "",
  name: "bool",
  zero: "false",
  isBool: true,
  parse: (word) => {
    const value = BOOLS.get(word)
    return value === undefined ? SYNTAX : { value }
  },
  show: String
}

/** A bool that Go reads through a function: the refusal then names the function that failed. */
export const boolFunc: ValueType<boolean> = {
  ...bool,
  parse: (word) => {
    const value = BOOLS.get(word)
    return value === undefined ? { error: notANumber("ParseBool", word, "invalid syntax") } : { value }
  }
}

const INT = /^[+-]?(?:0[xX](?:_?[\da-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?\d)*)$/

/** 64 bit as in Go; past 2^53 the last digits are lost, where no flag has a use for them. */
export const int: ValueType<number> = {
  word: "int",
  name: "int",
  zero: "0",
  parse: (word) => {
    if (!INT.test(word)) return SYNTAX
    const value = bigintOf(word)
    return BigInt.asIntN(64, value) === value ? { value: Number(value) } : RANGE
  },
  show: String
}

export const uint: ValueType<number> = {
  ...int,
  word: "uint",
  name: "uint",
  parse: (word) => {
    if (!INT.test(word) || /^[+-]/.test(word)) return SYNTAX
    const value = bigintOf(word)
    return BigInt.asUintN(64, value) === value ? { value: Number(value) } : RANGE
  }
}

function bigintOf(literal: string): bigint {
  const digits = literal.replace(/^[+-]/, "").replaceAll("_", "")
  const value = BigInt(digits.replace(/^0(?=[0-7])/, "0o"))
  return literal.startsWith("-") ? -value : value
}

/** Milliseconds with a fraction, from Go's notation. */
export const duration: ValueType<number> = {
  word: "duration",
  name: "duration",
  zero: "0s",
  parse: (word) => {
    const ns = parseDuration(word)
    return ns === undefined ? SYNTAX : { value: Number(ns) / 1e6 }
  },
  show: durationText
}

/** Milliseconds in Go's notation. */
export function durationText(ms: number): string {
  return formatDuration(BigInt(Math.round(ms * 1e6)))
}

/** The verbosity of klog: plain decimal digits, 31 bit. */
export const level: ValueType<number> = { word: "value", name: "level", zero: "0", parse: parseLevel, show: String }

function parseLevel(word: string): Parsed<number> {
  if (!/^\d+$/.test(word)) return { error: notANumber("ParseUint", word, "invalid syntax") }
  const value = Number(word)
  return value < 2 ** 31 ? { value } : { error: notANumber("ParseUint", word, "value out of range") }
}

function notANumber(goFunction: string, word: string, reason: string): string {
  return `strconv.${goFunction}: parsing ${goQuote(word)}: ${reason}`
}

/** `pattern=N,…`. Repeats add to what was there before. */
export const vmodule: ValueType<ReadonlyArray<VmoduleItem>> = {
  word: "value",
  name: "`pattern=N,…`",
  zero: "",
  parse: (word, before) => {
    const items = [...before]
    for (const item of word.split(",").filter((each) => each !== "")) {
      const [pattern = "", digits = "", ...more] = item.split("=")
      if (pattern === "" || digits === "" || more.length > 0) {
        return { error: `${goQuote(item)} does not have the pattern=N format` }
      }
      const v = parseLevel(digits)
      if ("error" in v) return { error: `parsing verbosity in ${goQuote(item)}: ${v.error}` }
      items.push({ pattern, v: v.value })
    }
    return { value: items }
  },
  show: (items) => items.map(({ pattern, v }) => `${pattern}=${v}`).join(",")
}

/** Bytes, from a Kubernetes quantity. */
export const quantity: ValueType<number> = {
  word: "value",
  name: "quantity",
  zero: "0",
  parse: parseQuantity,
  show: String
}
