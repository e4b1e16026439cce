/**
 * Claim: from two states and the event between them, the page knows the transition that the chart has taken. Each step of the walks through the chart, which
 * take every transition there is, is asked; and the picture has a place for whatever may be lit.
 */
import { assert, describe, it } from "vitest"
import {
  type AnyTransitionDefinition,
  createActor,
  createMachine,
  type EventObject,
  fromCallback,
  fromPromise,
  type InspectionEvent
} from "xstate"

import { type Announcement, registrarMachine } from "../../../src/machine/registrar.ts"
import type { RegistrarSnapshot } from "../../../src/machine/report.ts"
import { chartOf } from "../../../scripts/inspector/chart.ts"
import {
  activeStates,
  eventName,
  momentAt,
  transitionId,
  transitionTaken
} from "../../../src/services/inspector/chart.ts"
import type { Entry, StateValue } from "../../../src/services/inspector/record.ts"
import { edgeCover, type Walk } from "../../machine/walks.ts"

const chart = chartOf(registrarMachine)

interface Step {
  readonly before: StateValue
  readonly event: string
  readonly after: StateValue
  /** Ids in the picture. */
  readonly taken: ReadonlyArray<string>
}

const idOf = ({ source, target }: AnyTransitionDefinition): ReadonlyArray<string> =>
  (target ?? [undefined]).map((to) => (to === undefined ? source.id : `${source.id}--${to.id}`))

const idle = () => fromCallback<EventObject, undefined>(() => {})
const still = registrarMachine.provide({
  actors: {
    identify: idle(),
    watchDriver: idle(),
    serve: idle(),
    announce: fromCallback<EventObject, Announcement>(() => {}),
    drain: fromPromise<void, undefined>(() => new Promise(() => {}))
  }
})
const stopped = { setTimeout: () => 0, clearTimeout: () => {} }

/** What the chart takes on a walk, step by step, as the record has it. */
const stepsOf = ({ policy, steps }: Walk): ReadonlyArray<Step> => {
  const all: Array<Step> = []
  let before: StateValue | undefined
  const inspect = (event: InspectionEvent) => {
    if (event.type !== "@xstate.microstep" || event.actorRef.sessionId !== event.rootId) return
    const { value } = event.snapshot as RegistrarSnapshot
    const taken = event._transitions.filter(({ eventType }) => eventType !== "").flatMap(idOf)
    if (before !== undefined) all.push({ before, event: event.event.type, after: value, taken })
    before = value
  }
  const actor = createActor(still, { input: { policy }, clock: stopped, inspect })
  actor.start()
  before ??= actor.getSnapshot().value
  for (const { press } of steps) if (actor.getSnapshot().status === "active") actor.send(press as never)
  actor.stop()
  return all
}

describe("the transition", () => {
  it("is the one that was taken, in every step of every walk", () => {
    const seen = new Set<string>()
    for (const step of edgeCover().flatMap(stepsOf)) {
      const found = transitionTaken(chart, step.before, step.event, step.after)
      const id = found === undefined ? undefined : transitionId(found)
      const isTaken = id === undefined ? step.taken.length === 0 : step.taken.includes(id)
      // Told only where it is needed: there are thousands of steps.
      if (!isTaken) assert.fail(`${JSON.stringify(step)}: ${id}`)
      seen.add(id ?? "")
    }
    const missed = chart.transitions.map(transitionId).filter((id) => !seen.has(id))
    assert.deepEqual(missed, [])
  })

  it("is none where the event led nowhere", () => {
    assert.isUndefined(transitionTaken(chart, { connecting: "dialing" }, "kubelet.accepted", { connecting: "dialing" }))
  })
})

describe("the active states", () => {
  it("are those of the value, outer ones first; strange ones are left out", () => {
    assert.deepEqual(activeStates(chart, { attached: { driver: "connected", registration: { inPlace: "refused" } } }), [
      "registrar.attached",
      "registrar.attached.driver",
      "registrar.attached.driver.connected",
      "registrar.attached.registration",
      "inPlace",
      "registrar.attached.registration.inPlace.refused"
    ])
    assert.deepEqual(activeStates(chart, { nowhere: { connecting: "x" } }), [])
  })
})

describe("a moment", () => {
  const entry = (event: string, value: StateValue): Entry => ({
    at: 0,
    event,
    before: "",
    after: "",
    value,
    payload: {},
    context: {}
  })
  const entries = [entry("xstate.init", { connecting: "dialing" }), entry("stop.requested", "stopping")]

  it("has what is active and what was taken; of the first entry, that is not known", () => {
    assert.deepEqual(momentAt(chart, entries, 0), {
      entry: entries[0] as Entry,
      active: ["registrar.connecting", "registrar.connecting.dialing"],
      taken: undefined
    })
    assert.deepInclude(momentAt(chart, entries, 1), {
      active: ["stopping"],
      taken: "registrar.connecting--stopping"
    })
    assert.isUndefined(momentAt(chart, entries, 2))
    assert.isUndefined(momentAt(chart, [], -1))
  })
})

describe("the chart's hash", () => {
  const chartWith = (event: string) =>
    chartOf(createMachine({ id: "c", initial: "a", states: { a: { on: { [event]: "b" } }, b: {} } }))

  it("is another one for another chart, and the same for the same", () => {
    assert.match(chart.hash, /^[\da-f]{12}$/)
    assert.equal(chartWith("x").hash, chartWith("x").hash)
    assert.notEqual(chartWith("x").hash, chartWith("y").hash)
  })
})

it.each([
  ["xstate.after.dialRest.registrar.connecting.resting", "after dialRest"],
  ["xstate.done.actor.0.stopping", "drained"],
  ["xstate.init", "start"],
  ["kubelet.refused", "kubelet.refused"]
])("%s is called %s", (event, name) => assert.equal(eventName(event), name))
