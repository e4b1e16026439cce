/** Go durations, exact to the nanosecond: how they are read from a flag and how they are printed. */

const UNITS = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["\u00b5s", 1_000n],
  ["\u03bcs", 1_000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n]
])
const LIMIT = 1n << 63n

/** Nanoseconds of `1h30m`, `-1.5s`, `.5s`, a bare `0`; undefined for what Go refuses, more than 292 years included. */
export function parseDuration(text: string): bigint | undefined {
  const sign = /^[+-]/.exec(text)?.[0] ?? ""
  const body = text.slice(sign.length)
  if (body === "0") return 0n
  if (body === "") return undefined
  let total = 0n
  for (let rest = body; rest !== ""; ) {
    const [all = "", whole = "", fraction = "", unitName = ""] = /^(\d*)(?:\.(\d*))?([^\d.]+)/.exec(rest) ?? []
    const unit = UNITS.get(unitName)
    if (unit === undefined || whole + fraction === "") return undefined
    total += BigInt(whole) * unit + fractionOf(fraction, unit)
    if (total > LIMIT) return undefined
    rest = rest.slice(all.length)
  }
  if (sign === "-") return -total
  return total === LIMIT ? undefined : total
}

/** Rounded as Go rounds: through a double, and with the digits that a 64-bit integer cannot hold left out. */
function fractionOf(digits: string, unit: bigint): bigint {
  let value = 0n
  let scale = 1
  for (const digit of digits) {
    const longer = value * 10n + BigInt(digit)
    if (longer > LIMIT) break
    value = longer
    scale *= 10
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)))
}

/** As Go prints it: `5m0s`, `1.5s`, `100µs`, `0s`. */
export function formatDuration(ns: bigint): string {
  if (ns === 0n) return "0s"
  const sign = ns < 0n ? "-" : ""
  const left = ns < 0n ? -ns : ns
  if (left < 1_000n) return `${sign}${left}ns`
  if (left < 1_000_000n) return `${sign}${decimal(left, 1_000n)}\u00b5s`
  if (left < 1_000_000_000n) return `${sign}${decimal(left, 1_000_000n)}ms`
  const minutes = left / 60_000_000_000n
  const seconds = `${decimal(left % 60_000_000_000n, 1_000_000_000n)}s`
  if (minutes === 0n) return `${sign}${seconds}`
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, "0")
    .replace(/0+$/, "")
  return fraction === "" ? `${value / unit}` : `${value / unit}.${fraction}`
}
