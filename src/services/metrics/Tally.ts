/**
 * What is counted over a registrar's life, and the page of a scrape. It is told of every event and of every call to the driver; nothing here goes back, and a
 * scrape changes nothing.
 */
import type { LifecycleState } from "../../machine/report.ts"
import { release } from "../../version.ts"
import type { Call } from "../driver/DriverConnection.ts"
import {
  type Definition,
  definitions,
  eventName,
  eventTypes,
  outcomes,
  recreationReasons,
  states
} from "./definitions.ts"
import { exposition, type Family, type Sample } from "./exposition.ts"
import { Histogram } from "./Histogram.ts"
import { makeProcessFamilies } from "./processFamilies.ts"

/** An event, and what it did. */
export interface Heard {
  /** As xstate has it. */
  readonly type: string
  readonly before: LifecycleState
  readonly after: LifecycleState
  /** The chart had a transition for it. */
  readonly taken: boolean
  /** The driver was lost before it. */
  readonly wasLost: boolean
}

/** What is so at the moment of a scrape; times are milliseconds since the epoch. */
export interface View {
  readonly now: number
  readonly state: LifecycleState
  readonly since: number
  readonly driverConnected: boolean
  readonly lastGetInfo: number | undefined
  readonly lastVerdict: number | undefined
}

/** Those of kubernetes-csi/csi-lib-utils, metrics/metrics.go: panels made for other sidecars show this one too. */
const callBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600]
const unknownDriver = "unknown-driver"
const methodName = "/csi.v1.Identity/GetPluginInfo"

/** A driver that tells another name each time must not cost memory without end; past this, calls are told apart no more. */
const maxOperations = 100
const operationKey = (name: string, code: string) => `${code} ${name}`

type Counts = Map<string, number>
const zeros = (names: ReadonlyArray<string>): Counts => new Map(names.map((name) => [name, 0]))
const count = (counts: Counts, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)

export class Tally {
  readonly #events = zeros(eventTypes)
  readonly #verdicts = zeros(outcomes)
  readonly #recreations = zeros(Object.values(recreationReasons))
  readonly #operations = new Map<string, { readonly labels: Sample["labels"]; readonly durations: Histogram }>()
  #reconnects = 0
  #placedBefore = false
  #reason: string | undefined
  readonly #processFamilies = makeProcessFamilies()

  hear({ type, before, after, taken, wasLost }: Heard): void {
    // A verdict counts in whatever state it comes.
    if (type === "kubelet.accepted") count(this.#verdicts, "accepted")
    if (type === "kubelet.refused") count(this.#verdicts, "refused")
    const event = taken ? eventName(type) : undefined
    if (event === undefined) return
    count(this.#events, event)
    if (event === "driver.identified" && wasLost) this.#reconnects++
    if (after === "identified" && (before !== "identified" || event === "driver.renamed")) {
      this.#reason = recreationReasons[event as keyof typeof recreationReasons]
    }
    if (event === "socket.placed") {
      if (this.#placedBefore && this.#reason !== undefined) count(this.#recreations, this.#reason)
      this.#placedBefore = true
    }
  }

  /** `knownName` is the driver's as far as known before the call, or empty. */
  observe(call: Call, knownName: string): void {
    const [name, code] = this.#labelsOf(call.name ?? (knownName || unknownDriver), call.code)
    const key = operationKey(name, code)
    const operation = this.#operations.get(key) ?? {
      labels: { driver_name: name, method_name: methodName, grpc_status_code: code },
      durations: new Histogram(callBuckets)
    }
    this.#operations.set(key, operation)
    operation.durations.observe(call.seconds)
  }

  #labelsOf(name: string, code: string): readonly [name: string, code: string] {
    const hasRoom = this.#operations.size < maxOperations || this.#operations.has(operationKey(name, code))
    return hasRoom ? [name, code] : [unknownDriver, "Unknown"]
  }

  /** Families without a sample are left out. */
  families(view: View): ReadonlyArray<Family> {
    const { version, commit, node, compatible } = release
    const seconds = (ms: number | undefined) => (ms === undefined ? [] : one(ms / 1_000))
    const all: ReadonlyArray<Family> = [
      family(definitions.buildInfo, [
        { labels: { version, revision: commit, node_version: node, upstream_version: compatible }, value: 1 }
      ]),
      family(
        definitions.state,
        states.map((state) => ({ labels: { state }, value: state === view.state ? 1 : 0 }))
      ),
      family(definitions.stateAge, seconds(Math.max(0, view.now - view.since))),
      family(definitions.events, counted("event", this.#events)),
      family(definitions.lastGetInfo, seconds(view.lastGetInfo)),
      family(definitions.lastVerdict, seconds(view.lastVerdict)),
      family(definitions.verdicts, counted("outcome", this.#verdicts)),
      family(definitions.recreations, counted("reason", this.#recreations)),
      family(definitions.driverConnected, one(view.driverConnected ? 1 : 0)),
      family(definitions.driverReconnects, one(this.#reconnects)),
      family(
        definitions.operations,
        [...this.#operations.values()].flatMap(({ labels, durations }) => durations.samples(labels))
      ),
      ...this.#processFamilies()
    ]
    return all.filter(({ samples }) => samples.length > 0)
  }

  /** The text of a scrape. */
  page(view: View): string {
    return exposition(this.families(view))
  }
}

const family = ({ name, help, type }: Definition, samples: ReadonlyArray<Sample>): Family => ({
  name,
  help,
  type,
  samples
})
const one = (value: number): ReadonlyArray<Sample> => [{ labels: {}, value }]
const counted = (label: string, counts: Counts): ReadonlyArray<Sample> =>
  [...counts].map(([name, value]) => ({ labels: { [label]: name }, value }))
