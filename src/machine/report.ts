/**
 * Pure views of a registrar's snapshot: the state by its one name, health, readiness, the log lines of a transition, the last words.
 * Whatever is told about the lifecycle, to a person or a probe, is decided here and nowhere else.
 */
import type { SnapshotFrom } from "xstate"

import type { Failure, Output } from "./context.ts"
import type { RegistrarEvent } from "./events.ts"
import { refusalRestMs } from "./policies.ts"
import type { registrarMachine } from "./registrar.ts"

export type RegistrarSnapshot = SnapshotFrom<typeof registrarMachine>

export const lifecycleStates = [
  "connecting",
  "identified",
  "listening",
  "awaitingKubelet",
  "registered",
  "refused",
  "displaced",
  "stopping",
  "stopped",
  "failed"
] as const
export type LifecycleState = (typeof lifecycleStates)[number]

/** The one name of a snapshot, as it stands in log, health and metrics. */
export const lifecycleState = (snapshot: RegistrarSnapshot): LifecycleState => {
  const { value } = snapshot
  if (typeof value === "string") return value
  if ("connecting" in value) return "connecting"
  const { registration } = value.attached
  if (typeof registration === "string") return registration
  return "inPlace" in registration ? registration.inPlace : "identified"
}

/** Whether the driver is reachable as far as we know: true once named, false while it is lost or has not been found. */
export const driverConnected = (snapshot: RegistrarSnapshot): boolean =>
  snapshot.matches({ attached: { driver: "connected" } })

/** What `/healthz` has to do in this state: refuse with a reason, look at our own socket, or say ok without a look. */
export type Health =
  | { readonly kind: "unavailable"; readonly reason: string }
  | { readonly kind: "selfCheck" }
  | { readonly kind: "ok" }

export const health = (snapshot: RegistrarSnapshot): Health => {
  if (snapshot.hasTag("displaced")) return { kind: "ok" }
  if (snapshot.hasTag("unannounced") || snapshot.status !== "active") {
    return { kind: "unavailable", reason: waitingFor(snapshot) }
  }
  return { kind: "selfCheck" }
}

/** Ready means: the kubelet has registered this driver. Our socket's presence is the self-check's to tell. */
export const readiness = (snapshot: RegistrarSnapshot) => ({
  ready: snapshot.hasTag("registered"),
  reason: snapshot.hasTag("registered") ? "registered" : waitingFor(snapshot)
})

/** One line: the state, and what is missing for `registered`. */
export const waitingFor = (snapshot: RegistrarSnapshot): string => {
  const { context } = snapshot
  const state = lifecycleState(snapshot)
  switch (state) {
    case "connecting":
      return `connecting: ${context.obstacle?.cause ?? "waiting for the CSI driver to tell its name"}`
    case "identified":
      return "identified: the registration socket is being put in place"
    case "listening":
      return "listening: the kubelet has not called yet"
    case "awaitingKubelet":
      return "awaitingKubelet: the kubelet has asked, its verdict is open"
    case "registered":
      return "registered"
    case "refused":
      return `refused: ${context.refusal?.text ?? ""}`
    case "displaced":
      return "displaced: another registrar of this driver holds the registration socket"
    default:
      return context.failure === undefined ? state : `${state}: ${context.failure.cause}`
  }
}

/** A log line as the log service takes it; `caller` stays the same for ever, people filter by it. */
export interface ReportLine {
  readonly severity: "info" | "error"
  readonly v: number
  readonly caller: string
  readonly message: string
  readonly values: Readonly<Record<string, unknown>>
}

type Values = ReportLine["values"]
const info = (caller: string, message: string, values: Values = {}): ReportLine => ({
  severity: "info",
  v: 0,
  caller,
  message,
  values
})
const error = (caller: string, message: string, values: Values = {}): ReportLine => ({
  ...info(caller, message, values),
  severity: "error"
})
const withAdvice = ({ cause, advice }: Failure): Values => (advice === "" ? { cause } : { cause, advice })

/** Milliseconds as a person reads a wait. */
const seconds = (ms: number) => `${Number((ms / 1_000).toFixed(1))}s`

const driverLine = (
  before: RegistrarSnapshot,
  event: RegistrarEvent,
  after: RegistrarSnapshot
): ReportLine | undefined => {
  const wasLost = before.matches({ attached: { driver: "lost" } })
  switch (event.type) {
    case "driver.awaited":
    case "driver.unavailable":
      return before.context.obstacle?.cause === event.obstacle.cause
        ? undefined
        : info("registrar.ts:110", "Waiting for the CSI driver", withAdvice(event.obstacle))
    case "driver.rejected":
      return wasLost && before.context.obstacle?.cause !== event.failure.cause
        ? error("registrar.ts:111", "CSI driver is back but cannot be used", { err: event.failure.cause })
        : undefined
    case "driver.lost":
      return info("registrar.ts:112", "Lost connection to the CSI driver, the registration stays", {
        csiDriverName: before.context.driverName
      })
    case "driver.identified": {
      if (!wasLost) return undefined
      const renamed = before.context.driverName !== after.context.driverName
      return info("registrar.ts:113", renamed ? "CSI driver is back under another name" : "CSI driver is back", {
        csiDriverName: after.context.driverName
      })
    }
    default:
      return undefined
  }
}

const registrationLine = (event: RegistrarEvent, after: RegistrarSnapshot): ReportLine | undefined => {
  const { context } = after
  const csiDriverName = context.driverName
  switch (event.type) {
    case "socket.placed":
      return event.tookOver
        ? info("registrar.ts:120", "Took over the registration socket from another registrar", {
            socketPath: event.path
          })
        : undefined
    case "socket.removed":
      return error("registrar.ts:121", "Registration socket was removed, putting it back", {
        csiDriverName,
        losses: context.losses
      })
    case "socket.displaced":
      return error("registrar.ts:122", "Another registrar holds the registration socket, standing by until it leaves", {
        csiDriverName
      })
    case "socket.vacated":
      return info("registrar.ts:123", "The other registrar has left, announcing again", { csiDriverName })
    case "kubelet.accepted":
      return info("registrar.ts:130", "Registered with the kubelet", { csiDriverName })
    case "kubelet.refused":
      return lifecycleState(after) === "refused"
        ? error("registrar.ts:131", "Registration was refused by the kubelet, announcing again", {
            err: event.text,
            refusals: context.refusals,
            retryIn: seconds(refusalRestMs(context.refusals, event.spread))
          })
        : undefined
    case "stop.requested":
      return info("registrar.ts:140", "Stopping", { signal: event.signal })
    default:
      return undefined
  }
}

/** The lines a transition is worth, most often none. Repeats of what is already so are not news. */
export const transitionLines = (
  before: RegistrarSnapshot,
  event: RegistrarEvent,
  after: RegistrarSnapshot
): ReadonlyArray<ReportLine> => {
  const news = lifecycleState(before) !== lifecycleState(after) || event.type === "kubelet.refused"
  const lines = [
    driverLine(before, event, after),
    news || event.type === "socket.placed" ? registrationLine(event, after) : undefined
  ]
  return lines.filter((line) => line !== undefined)
}

const lastMessages: Readonly<Record<Failure["step"], readonly [caller: string, message: string]>> = {
  connecting: ["main.go:167", "Error connecting to CSI driver"],
  identifying: ["main.go:177", "Error retreiving CSI driver name"],
  announcing: ["node_register.go:59", "Failed to listen on socket"],
  registering: ["main.go:104", "Registration process failed with error, restarting registration container"],
  removing: ["node_register.go:186", "Failed to remove socket with error"],
  running: ["registrar.ts:150", "Internal error"]
}

/** The last line before exit 1, in the words people grep for; nothing when the end was asked for. */
export const lastWords = ({ failure }: Output): ReportLine | undefined => {
  if (failure === undefined) return undefined
  const [caller, message] = lastMessages[failure.step]
  const advice = failure.advice === "" ? {} : { advice: failure.advice }
  return error(caller, message, { err: failure.cause, ...failure.facts, ...advice })
}
