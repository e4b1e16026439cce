/** Kubernetes quantities (`512`, `1k`, `2Ki`, `1e3`, `100m`), as far as a number of bytes needs them. */

import type { Parsed } from "./values.ts"

const SYNTAX = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[+-]?\d*)$/
const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const WRONG_SUFFIX = "unable to parse quantity's suffix"
/** The upper-case K that others write is no suffix of a quantity. */
const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"]
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
/** Beyond this power of ten every quantity is larger, or smaller, than any buffer. */
const EXTREME = 40
/** component-base holds a buffer to 2 GiB. */
const MOST_BYTES = 2n ** 31n

/** Bytes, rounded up to a whole one and held between 0 (for whatever is negative) and 2 GiB. */
export function parseQuantity(text: string): Parsed<number> {
  const [, sign, whole = "", fraction = "", suffix = ""] = (text !== "" && SYNTAX.exec(text)) || []
  if (sign === undefined) return { error: WRONG_FORMAT }
  const scale = scaleOf(suffix)
  if (scale === undefined) return { error: WRONG_SUFFIX }
  const digits = BigInt(whole + fraction) * scale.factor
  const tens = scale.tens - fraction.length
  if (digits === 0n || sign === "-") return { value: 0 }
  if (tens > EXTREME) return { value: Number(MOST_BYTES) }
  const bytes = tens >= 0 ? digits * 10n ** BigInt(tens) : divideUp(digits, 10n ** BigInt(-tens))
  return { value: Number(bytes < MOST_BYTES ? bytes : MOST_BYTES) }
}

function scaleOf(suffix: string): { readonly factor: bigint; readonly tens: number } | undefined {
  const decimal = DECIMAL.indexOf(suffix)
  if (decimal >= 0) return { factor: 1n, tens: decimal * 3 - 9 }
  const binary = BINARY.indexOf(suffix)
  if (binary >= 0) return { factor: 1n << BigInt(10 * binary), tens: 0 }
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix)?.[1]
  if (exponent === undefined || BigInt.asIntN(64, BigInt(exponent)) !== BigInt(exponent)) return undefined
  return { factor: 1n, tens: Math.max(-EXTREME, Math.min(EXTREME + 1, Number(exponent))) }
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}
