/**
 * Every family that a scrape can show: name, type, labels, help. The README's table, the alerts and the dashboard are held against this list. Names are
 * what people build on: they change only on purpose.
 */
import type { RegistrarEvent } from "../../machine/events.ts"
import type { LifecycleState } from "../../machine/report.ts"
import type { Family } from "./exposition.ts"

export interface Definition extends Pick<Family, "name" | "help" | "type"> {
  readonly labels: ReadonlyArray<string>
}

const define =
  (type: Family["type"]) =>
  (name: string, help: string, ...labels: ReadonlyArray<string>): Definition => ({ name, help, type, labels })
const gauge = define("gauge")
const counter = define("counter")
const histogram = define("histogram")

const own = (name: string) => `csi_node_driver_registrar_${name}`

/** In the order in which they are shown. */
export const definitions = {
  buildInfo: gauge(
    own("build_info"),
    "Always 1; the labels say which release runs, on which Node.js, and with which upstream release it is compatible.",
    "version",
    "revision",
    "node_version",
    "upstream_version"
  ),
  state: gauge(own("state"), "1 for the state in which the registration is, 0 for all other states.", "state"),
  stateAge: gauge(own("state_age_seconds"), "Time since the present state was entered."),
  events: counter(
    own("events_total"),
    "Events that the statechart has taken, by type; timers count as events.",
    "event"
  ),
  lastGetInfo: gauge(
    own("last_get_info_timestamp_seconds"),
    "Unix time at which the kubelet last asked who we are; absent until it has."
  ),
  lastVerdict: gauge(
    own("last_verdict_timestamp_seconds"),
    "Unix time at which the kubelet last accepted or refused the driver; absent until it has."
  ),
  verdicts: counter(own("verdicts_total"), "Verdicts of the kubelet on the driver, by outcome.", "outcome"),
  recreations: counter(
    own("socket_recreations_total"),
    "Registration sockets that were put in place after the first one, by what made them necessary.",
    "reason"
  ),
  driverConnected: gauge(own("driver_connected"), "1 while the connection to the CSI driver is up."),
  driverReconnects: counter(own("driver_reconnects_total"), "Times that a lost CSI driver was found again."),
  operations: histogram(
    "csi_sidecar_operations_seconds",
    "Container Storage Interface operation duration with gRPC error code status total",
    "driver_name",
    "method_name",
    "grpc_status_code"
  ),
  cpu: counter("process_cpu_seconds_total", "User and system CPU time of the process."),
  residentMemory: gauge("process_resident_memory_bytes", "Resident memory of the process."),
  openFds: gauge("process_open_fds", "File descriptors that are open."),
  maxFds: gauge("process_max_fds", "File descriptors that may be open."),
  startTime: gauge("process_start_time_seconds", "Unix time at which the process was started.")
} as const satisfies Readonly<Record<string, Definition>>

const keys = <K extends string>(all: Readonly<Record<K, true>>): ReadonlyArray<K> => Object.keys(all) as Array<K>

export const states = keys<LifecycleState>({
  connecting: true,
  identified: true,
  listening: true,
  awaitingKubelet: true,
  registered: true,
  refused: true,
  displaced: true,
  stopping: true,
  stopped: true,
  failed: true
})

/** Those that are shown from the start; timers join when they end for the first time, as `after.NAME`. */
export const eventTypes = keys<RegistrarEvent["type"]>({
  "driver.awaited": true,
  "driver.identified": true,
  "driver.unavailable": true,
  "driver.rejected": true,
  "driver.lost": true,
  "driver.renamed": true,
  "driver.restarted": true,
  "socket.placed": true,
  "socket.removed": true,
  "socket.displaced": true,
  "socket.vacated": true,
  "socket.blocked": true,
  "socket.failed": true,
  "socket.stranded": true,
  "kubelet.asked": true,
  "kubelet.accepted": true,
  "kubelet.refused": true,
  "stop.requested": true,
  "dump.requested": true,
  "program.crashed": true
})

export const outcomes = ["accepted", "refused"] as const

/** Why another socket became necessary, by the event that said so. */
export const recreationReasons = {
  "socket.removed": "removed",
  "socket.vacated": "vacated",
  "driver.renamed": "driver_renamed",
  "driver.restarted": "driver_restarted",
  "after.refusalRest": "refused",
  "after.verdictLimit": "undecided"
} as const

/** The chart's own name of an event of xstate, as in its picture; undefined for what no chart takes. */
export const eventName = (type: string): string | undefined => {
  if (!type.startsWith("xstate.")) return type
  if (type.startsWith("xstate.done.actor.")) return "drained"
  const [, delay] = /^xstate\.after\.(\w+)\./.exec(type) ?? []
  return delay === undefined ? undefined : `after.${delay}`
}

/** The README's table, in Markdown. */
export const metricsTable = (): string =>
  [
    "| metric | type | labels | meaning |",
    "| --- | --- | --- | --- |",
    ...Object.values<Definition>(definitions).map(
      ({ name, type, labels, help }) =>
        `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help.replace(/\.$/, "")} |`
    )
  ].join("\n")
