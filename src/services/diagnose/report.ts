/** What diagnose tells: checks with a verdict each, as a table for people or one JSON document for machines. Pure. */
import { shortLine } from "../../machine/texts.ts"

/** Of a text of others. */
const longestText = 16_000
const inOneLine = (text: string) => shortLine(text, longestText)

export type Verdict = "ok" | "warning" | "failed" | "unknown"

/** What can be wrong, by a name that stays the same: docs/troubleshooting.md has a row for each. */
export const faults = [
  "address-illegal",
  "driver-not-started",
  "not-a-socket",
  "permission-denied",
  "socket-dead",
  "driver-mute",
  "driver-speaks-http1",
  "driver-speaks-no-http2",
  "driver-slow",
  "driver-answers-error",
  "driver-not-ready",
  "illegal-name",
  "node-info-fails",
  "folder-missing",
  "not-a-folder",
  "folder-not-writable",
  "folder-deleted",
  "kubelet-not-watching",
  "stale-sockets",
  "silent-sockets",
  "name-taken",
  "path-too-long",
  "endpoint-unreachable",
  "registrar-missing",
  "registrar-hangs",
  "flags-differ",
  "not-announced",
  "kubelet-silent",
  "verdict-open",
  "refused-by-kubelet",
  "file-system-hangs"
] as const

export type Fault = (typeof faults)[number]

export interface Check {
  readonly name: string
  readonly verdict: Verdict
  /** Of warnings and failures. */
  readonly fault?: Fault
  readonly found: string
  /** Empty where `found` says it all. */
  readonly means: string
  /** Empty where there is nothing to do. */
  readonly toDo: string
}

export interface Report {
  /** Nothing has failed, and nothing is to be warned of. What could not be found out is no fault. */
  readonly ok: boolean
  /** Most likely why: the first failure in the order of a registration, or else the first warning. */
  readonly cause: { readonly check: string; readonly fault: Fault } | null
  /** As the driver tells it; null when it does not. */
  readonly driver: string | null
  readonly checks: ReadonlyArray<Check>
}

/** A check whose `found` comes from outside is one line all the same, and so is every other text of it. */
const clean = (check: Check): Check => ({
  ...check,
  found: inOneLine(check.found),
  means: inOneLine(check.means),
  toDo: inOneLine(check.toDo)
})

export const ok = (name: string, found: string, means = ""): Check => ({ name, verdict: "ok", found, means, toDo: "" })

export const unknown = (name: string, found: string, means = ""): Check => ({
  name,
  verdict: "unknown",
  found,
  means,
  toDo: ""
})

type Bad = (name: string, fault: Fault, found: string, means: string, toDo: string) => Check
export const failed: Bad = (name, fault, found, means, toDo) => ({ name, verdict: "failed", fault, found, means, toDo })
export const warning: Bad = (name, fault, found, means, toDo) => ({
  ...failed(name, fault, found, means, toDo),
  verdict: "warning"
})

/** `checks` in the order of a registration. */
export const reportOf = (driver: string | undefined, checks: ReadonlyArray<Check>): Report => {
  const worst =
    checks.find(({ verdict }) => verdict === "failed") ?? checks.find(({ verdict }) => verdict === "warning")
  return {
    ok: worst === undefined,
    cause: worst?.fault === undefined ? null : { check: worst.name, fault: worst.fault },
    driver: driver ?? null,
    checks: checks.map(clean)
  }
}

/** One line. */
export const jsonOf = (report: Report): string => `${JSON.stringify(report)}\n`

const columns = { name: 24, verdict: 9 }
const row = (name: string, verdict: string, text: string) =>
  `${name.padEnd(columns.name)}${verdict.padEnd(columns.verdict)}${text}`.trimEnd()

const rowsOf = ({ name, verdict, fault, found, means, toDo }: Check): ReadonlyArray<string> => [
  row(name, verdict === "failed" ? "FAILED" : verdict, found),
  ...(fault === undefined ? [] : [row("", "", `fault: ${fault}`)]),
  ...(means === "" ? [] : [row("", "", `means: ${means}`)]),
  ...(toDo === "" ? [] : [row("", "", `to do: ${toDo}`)])
]

const summaryOf = ({ cause, driver, checks }: Report): string => {
  const worst = checks.find(({ name }) => name === cause?.check)
  if (worst !== undefined) return `${worst.fault}: ${worst.found}`
  const open = checks.filter(({ verdict }) => verdict === "unknown").length
  const name = driver === null ? "" : `${inOneLine(driver)}: `
  return open === 0
    ? `${name}all is well`
    : `${name}nothing wrong was found; ${open} of ${checks.length} could not be looked at`
}

/** A table, and the most likely cause on the last line. */
export const textOf = (report: Report): string =>
  [row("CHECK", "VERDICT", "FOUND"), ...report.checks.flatMap(rowsOf), "", summaryOf(report), ""].join("\n")
