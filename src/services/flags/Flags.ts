/**
 * The command line, read once at the start into plain settings that everything else gets as arguments.
 * Reading has no effect of its own: what is to be printed, and the exit code, are answers. What a complete command line
 * then leads to (version, probe, run, refusal) is the next step, in decide.ts.
 */

import type { LogSettings } from "../log/Log.ts"
import { parseGoFlags } from "./goFlags.ts"
import { usage } from "./help.ts"
import { type Flag, flags, type FlagValues, klogFlags } from "./table.ts"

export interface Settings {
  /** As given, with or without a scheme. */
  readonly csiAddress: string
  /** Told to the kubelet as it is. Empty: not given, which only `--version` can do with. */
  readonly kubeletRegistrationPath: string
  readonly pluginRegistrationPath: string
  /** For one call. 0 or less: no time at all. May be below 1. */
  readonly callTimeoutMs: number
  /** 0: no limit. May be longer than a Node timer can be. */
  readonly connectTimeoutMs: number
  /** Refusals in a row; 0: no limit. */
  readonly registrationAttempts: number
  readonly reannounceOnDriverRestart: boolean
  /** As given; the address that counts is that of `httpAddress`. */
  readonly httpEndpoint: string
  readonly healthPort: number
  readonly enablePprof: boolean
  readonly enableInspector: boolean
  /** As given, unknown words too. */
  readonly mode: string
  /** A clean path that no other route has. */
  readonly metricsPath: string
  readonly probe: FlagValues["probe"]
  readonly version: boolean
  /** `--connection-timeout` was given, and not as 0. */
  readonly connectionTimeoutGiven: boolean
  readonly automaxprocs: boolean
  /** The flags of klog that were given, as `--name`. */
  readonly deprecated: ReadonlyArray<string>
  readonly log: LogSettings
}

export type ReadFlags =
  | { readonly kind: "exit"; readonly code: 0 | 1 | 2; readonly stdout?: string; readonly stderr?: string }
  | { readonly kind: "run"; readonly settings: Settings }

/**
 * Reads the words behind the program's name. Help goes to stderr with exit 0, as upstream; an error with exit 2 gives
 * its reason, the usage, and the reason again, since the last line is what `kubectl` and termination messages show.
 */
export function readFlags(argv: ReadonlyArray<string>, argv0: string): ReadFlags {
  const read = parseGoFlags([...Object.values<Flag<unknown>>(flags), ...klogFlags], argv)
  if (read.kind === "help") return { kind: "exit", code: 0, stderr: usage(argv0) }
  if (read.kind === "error") {
    return { kind: "exit", code: 2, stderr: `${read.reason}\n${usage(argv0)}${read.reason}\n` }
  }
  return { kind: "run", settings: settingsOf(valuesOf(read.given), deprecatedOf(read.given)) }
}

/** The address of the HTTP server: `--http-endpoint`, or `:N` for `--health-port=N`; empty: no server. */
export function httpAddress(settings: Pick<Settings, "httpEndpoint" | "healthPort">): string {
  if (settings.httpEndpoint !== "") return settings.httpEndpoint
  return settings.healthPort > 0 ? `:${settings.healthPort}` : ""
}

function valuesOf(given: ReadonlyMap<string, unknown>): FlagValues {
  const values = Object.entries<Flag<unknown>>(flags).map(([key, row]) => [
    key,
    given.has(row.name) ? given.get(row.name) : row.initial
  ])
  // Each value was read by its own row's type.
  return Object.fromEntries(values) as FlagValues
}

function deprecatedOf(given: ReadonlyMap<string, unknown>): ReadonlyArray<string> {
  const names = new Set(klogFlags.map((row) => row.name))
  return [...given.keys()].filter((name) => names.has(name)).map((name) => `--${name}`)
}

function settingsOf(values: FlagValues, deprecated: ReadonlyArray<string>): Settings {
  const {
    v,
    vmodule,
    loggingFormat,
    logFlushFrequencyMs,
    logTextSplitStream,
    logTextInfoBufferSize,
    logJsonSplitStream,
    logJsonInfoBufferSize,
    connectionTimeoutMs,
    ...same
  } = values
  return {
    ...same,
    connectionTimeoutGiven: connectionTimeoutMs !== 0,
    deprecated,
    log: {
      format: loggingFormat,
      v,
      vmodule,
      flushFrequencyMs: logFlushFrequencyMs,
      text: { splitStream: logTextSplitStream, infoBufferBytes: logTextInfoBufferSize },
      json: { splitStream: logJsonSplitStream, infoBufferBytes: logJsonInfoBufferSize }
    }
  }
}
