/**
 * Where one driver's chart stands: its snapshot, its changes, and its last 1,000 events with their times. Whoever tells the state (HTTP, log,
 * a dump) depends on this and not on the chart, so there is no circle. It is written to by services/Registrar.ts only.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { RegistrarEvent } from "../machine/events.ts"
import type { LifecycleState, RegistrarSnapshot } from "../machine/report.ts"
import { lifecycleState } from "../machine/report.ts"

const historyLength = 1_000

/** One event and where it led; times are milliseconds since the epoch. */
export interface Entry {
  readonly at: number
  readonly event: RegistrarEvent["type"] | (string & {})
  readonly before: LifecycleState
  readonly after: LifecycleState
  /** Once somebody has asked for it with `keepDetails`. */
  readonly detail?: Detail
}

/** What the chart itself holds: kept by reference, never changed. */
export interface Detail {
  readonly event: RegistrarEvent
  readonly value: RegistrarSnapshot["value"]
  readonly context: RegistrarSnapshot["context"]
}

export interface Verdict {
  readonly at: number
  readonly accepted: boolean
  readonly text: string
}

type Listener = (change: {
  readonly before: RegistrarSnapshot
  readonly event: RegistrarEvent
  readonly after: RegistrarSnapshot
  readonly entry: Entry
}) => void

export class Status extends Context.Service<
  Status,
  {
    /** Undefined until the chart has started. */
    readonly snapshot: () => RegistrarSnapshot | undefined
    /** When the present lifecycle state was entered, in milliseconds since the epoch. */
    readonly since: () => number
    readonly lastGetInfo: () => number | undefined
    readonly lastVerdict: () => Verdict | undefined
    /** Oldest first. */
    readonly history: () => ReadonlyArray<Entry>
    /** From now on each entry has its details. */
    readonly keepDetails: () => void
    /** Calls `listener` after each event the chart has taken, until the returned function is called. */
    readonly subscribe: (listener: Listener) => () => void
    /** For services/Registrar.ts. */
    readonly record: (event: RegistrarEvent, after: RegistrarSnapshot) => void
  }
>()("registrar/services/Status") {
  static readonly layer = () =>
    Layer.effect(
      Status,
      Effect.map(Clock.Clock, (clock) => {
        let current: RegistrarSnapshot | undefined
        let since = clock.currentTimeMillisUnsafe()
        let lastGetInfo: number | undefined
        let lastVerdict: Verdict | undefined
        let detailed = false
        const ring: Array<Entry> = []
        let oldest = 0
        const listeners = new Set<Listener>()

        const remember = (entry: Entry) => {
          if (ring.length < historyLength) ring.push(entry)
          else {
            ring[oldest] = entry
            oldest = (oldest + 1) % historyLength
          }
        }

        return Status.of({
          snapshot: () => current,
          since: () => since,
          lastGetInfo: () => lastGetInfo,
          lastVerdict: () => lastVerdict,
          history: () => [...ring.slice(oldest), ...ring.slice(0, oldest)],
          keepDetails: () => {
            detailed = true
          },
          subscribe: (listener) => {
            listeners.add(listener)
            return () => listeners.delete(listener)
          },
          record: (event, after) => {
            const at = clock.currentTimeMillisUnsafe()
            const before = current ?? after
            current = after
            const [from, to] = [lifecycleState(before), lifecycleState(after)]
            if (from !== to) since = at
            if (event.type === "kubelet.asked") lastGetInfo = at
            if (event.type === "kubelet.accepted") lastVerdict = { at, accepted: true, text: "" }
            if (event.type === "kubelet.refused") lastVerdict = { at, accepted: false, text: event.text }
            const brief = { at, event: event.type, before: from, after: to }
            const entry = detailed ? { ...brief, detail: { event, value: after.value, context: after.context } } : brief
            remember(entry)
            // Whoever subscribes in here hears the next event, not this one again.
            for (const listener of [...listeners]) listener({ before, event, after, entry })
          }
        })
      })
    )
}
