/**
 * The flags: the parser, `--help` and the README's table are all made from these rows. Names, types, defaults and meanings
 * of the first part are those of node-driver-registrar v2.17, and a pod written for it must not notice a difference.
 * The defaults of flags that tune the lifecycle live in machine/policies.ts; every other default lives here.
 */

import { defaults } from "../../machine/policies.ts"
import { metricsPathFault } from "./metricsPath.ts"
import {
  bool,
  boolFunc,
  choice,
  duration,
  int,
  level,
  quantity,
  text,
  uint,
  type ValueType,
  vmodule
} from "./values.ts"

export interface Flag<A> {
  readonly name: string
  readonly type: ValueType<A>
  readonly initial: A
  /** What it does, for `--help` and the README. */
  readonly about: string
  /** Stands in place of the type's word in `--help`. */
  readonly word?: string
  /** Why a value of the right type is refused all the same. */
  refuse?(value: A): string | undefined
}

function flag<A>(
  name: string,
  type: ValueType<A>,
  initial: NoInfer<A>,
  about: string,
  more: Partial<Pick<Flag<NoInfer<A>>, "word" | "refuse">> = {}
): Flag<A> {
  return { name, type, initial, about, ...more }
}

function notNegative(zero: string): { refuse(value: number): string | undefined } {
  return { refuse: (value) => (value < 0 ? `must not be negative; 0 means ${zero}` : undefined) }
}

/** Keyed as the settings call them. The order is of no account: whoever prints sorts by name. */
export const flags = {
  csiAddress: flag(
    "csi-address",
    text,
    "/run/csi/socket",
    "Where the CSI driver listens, as seen from this container."
  ),
  kubeletRegistrationPath: flag(
    "kubelet-registration-path",
    text,
    "",
    "Path of the CSI driver's socket on the host; the kubelet is told to find the driver there. Required."
  ),
  pluginRegistrationPath: flag(
    "plugin-registration-path",
    text,
    "/registration",
    "Directory in which the registration socket is made: the kubelet's plugins_registry, as seen from this container."
  ),
  callTimeoutMs: flag(
    "timeout",
    duration,
    defaults.callTimeoutMs,
    "Limit for one GetPluginInfo call to the driver, and for the self-check behind the health endpoints."
  ),
  httpEndpoint: flag(
    "http-endpoint",
    text,
    "",
    "Address of the HTTP server for health and diagnostics, such as :8080 or 127.0.0.1:8080. Empty: no server.",
    { word: ":8080" }
  ),
  healthPort: flag(
    "health-port",
    int,
    0,
    "Deprecated, use --http-endpoint. TCP port of the HTTP server on all interfaces; 0 or less: no server. Cannot be combined with --http-endpoint.",
    { word: "--health-port" }
  ),
  enablePprof: flag(
    "enable-pprof",
    bool,
    false,
    "Serve CPU and heap profiles at /debug/pprof/ of the HTTP server, for go tool pprof."
  ),
  mode: flag(
    "mode",
    text,
    "",
    "Empty: register the driver. kubelet-registration-probe: ask the registrar that runs beside this process, and exit (see --probe). diagnose: print why the driver is not registered, and exit."
  ),
  connectionTimeoutMs: flag("connection-timeout", duration, 0, "Deprecated, has no effect."),
  version: flag("version", bool, false, "Print the version and exit."),
  automaxprocs: flag(
    "automaxprocs",
    boolFunc,
    false,
    "Accepted; there are no Go scheduler threads to fit to a CPU quota."
  ),
  v: flag("v", level, 0, "Verbosity of the log: lines of this level and below are shown."),
  vmodule: flag(
    "vmodule",
    vmodule,
    [],
    "Verbosity for single source files, as pattern=N separated by commas; text format only. Raises --v, never lowers it."
  ),
  loggingFormat: flag("logging-format", text, "text", 'Format of the log: "text" or "json".'),
  logFlushFrequencyMs: flag(
    "log-flush-frequency",
    duration,
    5_000,
    "The longest time that a buffered log line waits; only info buffers hold lines back."
  ),
  logTextSplitStream: flag(
    "log-text-split-stream",
    bool,
    false,
    "Text format: info lines to stdout, error lines to stderr. Otherwise all lines go to stderr."
  ),
  logTextInfoBufferSize: flag(
    "log-text-info-buffer-size",
    quantity,
    0,
    "Text format with split streams: bytes of info lines that may wait, such as 512, 1k, 2Ki. 0: none."
  ),
  logJsonSplitStream: flag(
    "log-json-split-stream",
    bool,
    false,
    "JSON format: info lines to stdout, error lines to stderr. Otherwise all lines go to stderr."
  ),
  logJsonInfoBufferSize: flag(
    "log-json-info-buffer-size",
    quantity,
    0,
    "JSON format with split streams: bytes of info lines that may wait, such as 512, 1k, 2Ki. 0: none."
  ),

  // Not in upstream.
  enableInspector: flag(
    "enable-inspector",
    bool,
    false,
    "Serve the live statechart and its last events at /debug/machine on the HTTP endpoint; nothing there changes anything."
  ),
  connectTimeoutMs: flag(
    "csi-connect-timeout",
    duration,
    defaults.connectTimeoutMs,
    "How long to wait from the start until the driver has told its name, before exit 1. 30s: as upstream. 0: for ever.",
    notNegative("for ever")
  ),
  registrationAttempts: flag(
    "registration-attempts",
    int,
    defaults.registrationAttempts,
    "How many refusals of the kubelet in a row lead to exit 1. 1: as upstream. 0: no limit.",
    notNegative("no limit")
  ),
  reannounceOnDriverRestart: flag(
    "reannounce-on-driver-restart",
    bool,
    defaults.reannounceOnDriverRestart,
    "Register again when a driver that was lost is back."
  ),
  metricsPath: flag("metrics-path", text, "/metrics", "Path at which the HTTP server shows metrics for Prometheus.", {
    refuse: metricsPathFault
  }),
  probe: flag(
    "probe",
    choice(["alive", "registered"]),
    "alive",
    "What --mode=kubelet-registration-probe asks. alive: does the registrar answer. registered: has the kubelet accepted the driver."
  )
}

type Table = typeof flags

/** A value for each row. */
export type FlagValues = { readonly [K in keyof Table]: Table[K] extends Flag<infer A> ? A : never }

/** Of klog, known to releases before v2.11. Read, so that a wrong value is still noticed, and without effect. */
export const klogFlags: ReadonlyArray<Flag<unknown>> = [
  flag("add_dir_header", bool, false, ""),
  flag("alsologtostderr", bool, false, ""),
  flag("log_backtrace_at", text, "", ""),
  flag("log_dir", text, "", ""),
  flag("log_file", text, "", ""),
  flag("log_file_max_size", uint, 1_800, ""),
  flag("logtostderr", bool, true, ""),
  flag("one_output", bool, false, ""),
  flag("skip_headers", bool, false, ""),
  flag("skip_log_headers", bool, false, ""),
  flag("stderrthreshold", text, "2", "")
]
