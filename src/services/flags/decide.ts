/**
 * What a complete command line leads to, in upstream's order, which shows from outside: a broken log configuration comes
 * before `--version`, that before the missing path, the path before the probe, and the probe looks at nothing else.
 */

import { type Release, versionText } from "../../version.ts"
import * as lines from "../log/catalogue.ts"
import { goQuote } from "../log/goQuote.ts"
import type { Line, LogSettings } from "../log/Log.ts"
import type { Settings } from "./Flags.ts"
import { durationText } from "./values.ts"

/** A line to be logged. */
export interface Entry {
  readonly line: Line
  readonly values?: Readonly<Record<string, unknown>>
}

/** Modes that ask beside a registrar, and end: neither a registrar nor the end of one. */
export const askingModes: ReadonlySet<string> = new Set(["kubelet-registration-probe", "diagnose"])

/** Log the entries with a log made of `log`, then do what `kind` says. */
export type Decision = { readonly log: LogSettings; readonly entries: ReadonlyArray<Entry> } & (
  | {
      readonly kind: "exit"
      readonly code: 0 | 1 | 2
      readonly stdout?: string
      /** Why a registrar ends before it has begun. */
      readonly lastWords?: Entry
    }
  | { readonly kind: "probe" | "diagnose" }
  | { readonly kind: "run" }
)

export function decide(
  settings: Settings,
  argv0: string,
  release: Release,
  platform: NodeJS.Platform = process.platform
): Decision {
  const { log } = settings
  const refuse = (entry: Entry, log: LogSettings = settings.log): Decision => ({
    kind: "exit",
    // Diagnose tells with 1 that something is wrong with the driver, not with the flags.
    code: settings.mode === "diagnose" ? 2 : 1,
    log,
    entries: [entry],
    ...(askingModes.has(settings.mode) ? {} : { lastWords: entry })
  })
  const invalid = loggingErrors(log)
  if (invalid !== undefined) {
    // No log can be made of settings that are wrong: the reason comes as text, whatever the format.
    return refuse({ line: lines.loggingInvalid, values: { err: invalid } }, { ...log, format: "text" })
  }
  if (settings.version) return { kind: "exit", code: 0, stdout: versionText(argv0, release), log, entries: [] }
  if (settings.kubeletRegistrationPath === "") return refuse({ line: lines.pathRequired })
  if (platform === "win32") return refuse({ line: lines.windowsUnsupported })
  if (settings.mode === "kubelet-registration-probe") return { kind: "probe", log, entries: [] }
  if (settings.mode === "diagnose") return { kind: "diagnose", log, entries: [] }

  const entries: Array<Entry> = [
    { line: lines.version, values: { version: release.version } },
    { line: lines.running, values: { mode: settings.mode } }
  ]
  if (settings.healthPort > 0 && settings.httpEndpoint !== "") {
    return { kind: "exit", code: 1, log, entries: [...entries, { line: lines.bothHealthFlags }] }
  }
  if (settings.connectionTimeoutGiven) entries.push({ line: lines.connectionTimeoutDeprecated })
  if (settings.deprecated.length > 0) {
    entries.push({ line: lines.deprecatedFlags, values: { flags: settings.deprecated.join(" ") } })
  }
  const doubt = pathDoubt(settings.kubeletRegistrationPath)
  if (doubt !== undefined) {
    entries.push({ line: lines.suspiciousPath, values: { path: settings.kubeletRegistrationPath, advice: doubt } })
  }
  return { kind: "run", log, entries }
}

/** What is most likely wrong with a path that the kubelet is told; undefined when nothing is. It is told to the kubelet all the same. */
export function pathDoubt(path: string): string | undefined {
  if (path.includes("$(")) return "a $(VARIABLE) was not replaced; is it defined in this container's env?"
  if (!path.startsWith("/"))
    return "the kubelet needs the absolute path of the driver's socket on the host, without a scheme"
  if (path.split("/").includes("plugins_registry")) {
    return "plugins_registry is for registration sockets; the driver's own socket belongs below plugins/"
  }
  return undefined
}

/**
 * Why these logging flags cannot be used, in the words of component-base, several in brackets; undefined if they can.
 * Split streams and info buffers, which upstream forbids for want of a feature gate, are usable here.
 */
export function loggingErrors(log: LogSettings): string | undefined {
  const errors: Array<string> = []
  if (log.flushFrequencyMs <= 0) {
    errors.push(
      `flushFrequency: Invalid value: ${goQuote(durationText(log.flushFrequencyMs))}: Must be greater than zero`
    )
  }
  if (log.format !== "text" && log.format !== "json") {
    errors.push(`format: Invalid value: ${goQuote(log.format)}: Unsupported log format`)
  }
  // An empty format counts as text to the check that comes last.
  if (log.vmodule.length > 0 && log.format !== "text" && log.format !== "") {
    errors.push("vmodule: Forbidden: Only supported for text log format")
  }
  if (errors.length === 0) return undefined
  return errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`
}
