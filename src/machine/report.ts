/**
 * Pure views of a registrar's snapshot: the state by its one name, health, readiness, the log lines of a transition, the last words.
 * Whatever is told about the lifecycle, to a person or a probe, is decided here and nowhere else.
 */
import type { SnapshotFrom } from "xstate"

import { adviceText } from "./advice.ts"
import type { Failure, Output } from "./context.ts"
import type { RegistrarEvent } from "./events.ts"
import { refusalRestMs } from "./policies.ts"
import type { registrarMachine } from "./registrar.ts"
import { shortLine } from "./texts.ts"

export type RegistrarSnapshot = SnapshotFrom<typeof registrarMachine>

export type LifecycleState =
  | "connecting"
  | "identified"
  | "listening"
  | "awaitingKubelet"
  | "registered"
  | "refused"
  | "displaced"
  | "stopping"
  | "stopped"
  | "failed"

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

/** Of a line about a wait: more is in the log. */
const longestWait = 1_000

/** One line: the state, and what is missing for `registered`. Causes and refusals are texts of others, of any length. */
export const waitingFor = (snapshot: RegistrarSnapshot): string => shortLine(waitOf(snapshot), longestWait)

const waitOf = (snapshot: RegistrarSnapshot): string => {
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

/** A line of the log; `caller` stays the same for ever, people filter by it. */
interface Line {
  readonly severity: "info" | "error"
  readonly v: 0
  readonly caller: string
  readonly message: string
}
type Values = Readonly<Record<string, unknown>>
export interface ReportLine extends Line {
  readonly values: Values
}

const info = (caller: string, message: string): Line => ({ severity: "info", v: 0, caller, message })
const error = (caller: string, message: string): Line => ({ severity: "error", v: 0, caller, message })

/** Every line that is told here. The last words are upstream's, since people grep for them. */
export const reportLines = {
  waitingForDriver: info("registrar.ts:110", "Waiting for the CSI driver"),
  unusableDriver: error("registrar.ts:111", "CSI driver is back but cannot be used"),
  driverLost: info("registrar.ts:112", "Lost connection to the CSI driver, the registration stays"),
  driverBack: info("registrar.ts:113", "CSI driver is back"),
  driverRenamed: info("registrar.ts:114", "CSI driver is back under another name"),
  tookOver: info("registrar.ts:120", "Took over the registration socket from another registrar"),
  removed: error("registrar.ts:121", "Registration socket was removed, putting it back"),
  displaced: error("registrar.ts:122", "Another registrar holds the registration socket, standing by until it leaves"),
  vacated: info("registrar.ts:123", "The other registrar has left, announcing again"),
  blocked: error("registrar.ts:124", "Registration socket cannot be put in place, trying again"),
  registered: info("registrar.ts:130", "Registered with the kubelet"),
  refused: error("registrar.ts:131", "Registration was refused by the kubelet, announcing again"),
  stopping: info("registrar.ts:140", "Stopping"),
  failedAgain: error("registrar.ts:141", "Failed again while stopping"),
  notCalled: info("registrar.ts:160", "Still waiting for the kubelet to call"),
  notDecided: info("registrar.ts:161", "Still waiting for the verdict of the kubelet"),
  stillDisplaced: info("registrar.ts:162", "Still standing by for another registrar"),
  connectingFailed: error("main.go:167", "Error connecting to CSI driver"),
  identifyingFailed: error("main.go:177", "Error retreiving CSI driver name"),
  announcingFailed: error("node_register.go:59", "Failed to listen on socket"),
  registeringFailed: error("main.go:104", "Registration process failed with error, restarting registration container"),
  removingFailed: error("node_register.go:186", "Failed to remove socket with error"),
  runningFailed: error("registrar.ts:150", "Internal error")
} as const

const say = (line: Line, values: Values = {}): ReportLine => ({ ...line, values })
const withAdvice = ({ cause, advice }: Failure): Values => (advice === "" ? { cause } : { cause, advice })
const asError = ({ cause, advice, facts }: Failure): Values => ({
  err: cause,
  ...facts,
  ...(advice === "" ? {} : { advice })
})

const advised = (refusal: string): Values => {
  const advice = adviceText(refusal)
  return advice === "" ? {} : { advice }
}

/** Milliseconds as a person reads a wait. */
const seconds = (ms: number) => `${Number((ms / 1_000).toFixed(1))}s`

const driverLine = (
  before: RegistrarSnapshot,
  event: RegistrarEvent,
  after: RegistrarSnapshot
): ReportLine | undefined => {
  const wasLost = before.matches({ attached: { driver: "lost" } })
  const lastCause = before.context.obstacle?.cause
  switch (event.type) {
    case "driver.awaited":
    case "driver.unavailable":
      return lastCause === event.obstacle.cause
        ? undefined
        : say(reportLines.waitingForDriver, withAdvice(event.obstacle))
    case "driver.rejected":
      return wasLost && lastCause !== event.failure.cause
        ? say(reportLines.unusableDriver, { err: event.failure.cause })
        : undefined
    case "driver.lost":
      return say(reportLines.driverLost, { csiDriverName: before.context.driverName })
    case "driver.identified": {
      if (!wasLost) return undefined
      const renamed = before.context.driverName !== after.context.driverName
      return say(renamed ? reportLines.driverRenamed : reportLines.driverBack, {
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
      return event.tookOver ? say(reportLines.tookOver, { socketPath: event.path }) : undefined
    case "socket.removed":
      return say(reportLines.removed, { csiDriverName, losses: context.losses })
    case "socket.displaced":
      return say(reportLines.displaced, { csiDriverName })
    case "socket.vacated":
      return say(reportLines.vacated, { csiDriverName })
    case "socket.blocked":
      return say(reportLines.blocked, asError(event.obstacle))
    case "kubelet.accepted":
      return say(reportLines.registered, { csiDriverName })
    case "kubelet.refused":
      return lifecycleState(after) === "refused"
        ? say(reportLines.refused, {
            err: event.text,
            refusals: context.refusals,
            retryIn: seconds(refusalRestMs(context.refusals, event.spread)),
            ...advised(event.text)
          })
        : undefined
    case "stop.requested":
      return say(reportLines.stopping, { signal: event.signal })
    default:
      return undefined
  }
}

/** What failed after the failure that ends the process, and would be lost: only the first has the last words. */
const furtherFailure = (before: RegistrarSnapshot, event: RegistrarEvent): ReportLine | undefined =>
  before.context.failure !== undefined && (event.type === "socket.stranded" || event.type === "program.crashed")
    ? say(reportLines.failedAgain, asError(event.failure))
    : undefined

/** Events that are news each time, though the lifecycle state stays. */
const alwaysNews = new Set(["kubelet.refused", "socket.placed", "socket.blocked"])

/** The lines a transition is worth, most often none. Repeats of what is already so are not news. */
export const transitionLines = (
  before: RegistrarSnapshot,
  event: RegistrarEvent,
  after: RegistrarSnapshot
): ReadonlyArray<ReportLine> => {
  const news = lifecycleState(before) !== lifecycleState(after) || alwaysNews.has(event.type)
  const lines = [
    driverLine(before, event, after),
    news ? registrationLine(event, after) : undefined,
    furtherFailure(before, event)
  ]
  return lines.filter((line) => line !== undefined)
}

/** `mount` tells which folder of the host the registration folder is. */
const whyNotCalled = (mount: string) =>
  /\/plugins_registry\/? on /.test(mount)
    ? "check that the kubelet runs, and that this is the folder of its --root-dir"
    : "the kubelet watches plugins_registry below its --root-dir, as a rule /var/lib/kubelet/plugins_registry: check which folder of the host is mounted here"

/** What a wait is worth saying again: whom we wait for, for how long, and what the outside adds (`facts`). Nothing in states that wait for nobody. */
export const reminder = (snapshot: RegistrarSnapshot, waitedMs: number, facts: Values): ReportLine | undefined => {
  const values = { csiDriverName: snapshot.context.driverName, waited: seconds(waitedMs) }
  switch (lifecycleState(snapshot)) {
    case "listening":
      return say(reportLines.notCalled, { ...values, ...facts, advice: whyNotCalled(String(facts.mount ?? "")) })
    case "awaitingKubelet":
      return say(reportLines.notDecided, values)
    case "displaced":
      return say(reportLines.stillDisplaced, values)
    default:
      return undefined
  }
}

const lastLines: Readonly<Record<Failure["step"], Line>> = {
  connecting: reportLines.connectingFailed,
  identifying: reportLines.identifyingFailed,
  announcing: reportLines.announcingFailed,
  registering: reportLines.registeringFailed,
  removing: reportLines.removingFailed,
  running: reportLines.runningFailed
}

/** The last line before exit 1, in the words people grep for; nothing when the end was asked for. */
export const lastWords = ({ failure }: Output): ReportLine | undefined =>
  failure === undefined ? undefined : say(lastLines[failure.step], asError(failure))
