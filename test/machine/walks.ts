/**
 * Walks through the production chart, generated: the shortest way to every configuration, then every event that can happen there, once.
 *
 * Time is part of the model. Two timers may run at once, so an `after` edge can only be taken by the timer that is due first; the chart is
 * therefore walked together with its timers, which are read off the actions that xstate's own pure `transition` returns.
 */
import { type AnyActorLogic, initialTransition, type Snapshot, transition } from "xstate"
import { getAdjacencyMap, getShortestPaths } from "xstate/graph"

import { defaultPolicy, type Failure, type Input, type Policy } from "../../src/machine/context.ts"
import type { RegistrarEvent } from "../../src/machine/events.ts"
import { attemptsUsedUp } from "../../src/machine/policies.ts"
import { registrarMachine } from "../../src/machine/registrar.ts"
import { type RegistrarSnapshot, waitingFor } from "../../src/machine/report.ts"

/** What may be pressed: an event from outside, the end of the first timer, or the end of an actor. */
export type Press = RegistrarEvent | { readonly type: `xstate.${string}` }

/** A snapshot with the timers that run in it. */
export type Timed = Snapshot<unknown> & {
  readonly of: RegistrarSnapshot
  readonly now: number
  readonly timers: ReadonlyArray<{ readonly id: string; readonly due: number }>
}

export interface Step {
  readonly press: Press
  /** Milliseconds from the step before, by which an `after` edge is due. */
  readonly afterMs: number
  readonly expected: RegistrarSnapshot
}

export interface Walk {
  readonly title: string
  readonly policy: Policy
  readonly steps: ReadonlyArray<Step>
}

/** More walks than this mean that the key of a configuration has grown a dimension it should not have. */
export const mostWalks = 3_000

const failure = (step: Failure["step"], cause: string): Failure => ({ step, cause, advice: "mend it" })

const presses: ReadonlyArray<RegistrarEvent> = [
  { type: "driver.awaited", obstacle: failure("connecting", "no socket") },
  { type: "driver.unavailable", obstacle: failure("identifying", "not yet") },
  { type: "driver.rejected", failure: failure("identifying", "unimplemented") },
  { type: "driver.identified", name: "a.example.com" },
  { type: "driver.identified", name: "b.example.com" },
  { type: "driver.lost" },
  { type: "socket.placed", path: "/registration/x-reg.sock", tookOver: false },
  { type: "socket.removed" },
  { type: "socket.displaced" },
  { type: "socket.vacated" },
  { type: "socket.failed", failure: failure("announcing", "no folder") },
  { type: "socket.blocked", obstacle: failure("announcing", "no space") },
  { type: "socket.stranded", failure: failure("removing", "no right to") },
  { type: "kubelet.asked" },
  { type: "kubelet.accepted" },
  { type: "kubelet.refused", text: "not today", spread: 0 },
  { type: "stop.requested", signal: "SIGTERM" },
  { type: "dump.requested" },
  { type: "program.crashed", failure: failure("running", "oops") }
]

/** Sent by `identify`, which only lives while the driver is being dialled. */
const dialling = new Set(["driver.awaited", "driver.unavailable", "driver.rejected", "driver.identified"])

const isDialling = (snapshot: RegistrarSnapshot) =>
  snapshot.matches({ connecting: "dialing" }) || snapshot.matches({ attached: { driver: { lost: "dialing" } } })

/** What the outside can do to a registrar in this state. */
export const possiblePresses = (snapshot: RegistrarSnapshot): ReadonlyArray<RegistrarEvent> =>
  presses.filter((event) => possible(snapshot, event))

const possible = (snapshot: RegistrarSnapshot, event: RegistrarEvent) =>
  snapshot.can(event) && (isDialling(snapshot) || !dialling.has(event.type))

/** Between two attempts to dial, and after a rejection has ended one, nothing is held: `stopping` ends as it begins. (What is stranded is found at its end.) */
const holdsNothing = (snapshot: RegistrarSnapshot, press: Press) =>
  snapshot.matches({ connecting: "resting" }) || (snapshot.matches("connecting") && press.type === "driver.rejected")

type Actions = ReturnType<typeof transition>[1]

const timersAfter = (before: Timed["timers"], now: number, actions: Actions): Timed["timers"] => {
  const timers = new Map(before.map(({ id, due }) => [id, due]))
  for (const action of actions) {
    const { id, sendId, delay } = action.params as { id?: string; sendId?: string; delay?: number }
    if (action.type === "xstate.cancel" && sendId !== undefined) timers.delete(sendId)
    if (action.type === "xstate.raise" && id !== undefined && delay !== undefined) timers.set(id, now + delay)
  }
  return [...timers].map(([id, due]) => ({ id, due })).sort((a, b) => a.due - b.due)
}

const timed = (of: RegistrarSnapshot, now: number, timers: Timed["timers"]): Timed =>
  ({ status: of.status, output: undefined, error: undefined, of, now, timers }) as Timed

const drained = "xstate.done.actor.0.stopping"

const enabled = ({ of, timers }: Timed): ReadonlyArray<Press> => {
  const [first] = timers
  const ends: Array<Press> = first === undefined ? [] : [{ type: first.id as `xstate.${string}` }]
  if (of.matches("stopping")) ends.push({ type: drained })
  return [...possiblePresses(of), ...ends]
}

const logic = {
  getInitialSnapshot: (_: unknown, input: Input) => {
    const [of, actions] = initialTransition(registrarMachine, input)
    return timed(of, 0, timersAfter([], 0, actions))
  },
  transition: (state: Timed, press: Press): Timed => {
    const due = state.timers.find(({ id }) => id === press.type)?.due
    const now = due ?? state.now
    const [of, actions] = transition(registrarMachine, state.of, press as RegistrarEvent)
    const next = timed(
      of,
      now,
      timersAfter(
        state.timers.filter(({ id }) => id !== press.type),
        now,
        actions
      )
    )
    const ends = of.matches("stopping") && (holdsNothing(state.of, press) || press.type === "socket.stranded")
    return ends ? logic.transition(next, { type: drained }) : next
  }
}
const anyLogic = logic as unknown as AnyActorLogic

/** A configuration: the state and the truth of its guards, never raw context. */
const configuration = ({ of }: Timed): string => {
  const { context } = of
  return JSON.stringify([
    of.value,
    context.losses > 0,
    context.failedDials > 0,
    context.refusals > 0,
    attemptsUsedUp(context.refusals, context.policy.registrationAttempts),
    context.failure === undefined
  ])
}

const over = (state: Timed) => state.of.status !== "active"

const walksUnder = (policy: Policy): Array<Walk> => {
  const options = {
    input: { policy },
    events: (state: Timed) => enabled(state) as Array<never>,
    serializeState: configuration as never,
    stopWhen: over as never
  }
  const adjacency = getAdjacencyMap(anyLogic, options)
  const paths = getShortestPaths(anyLogic, options)
  return paths.flatMap((path) => {
    const reached = path.steps.map(({ event }) => event as Press).slice(1)
    const here = adjacency[configuration(path.state as Timed) as keyof typeof adjacency]
    return Object.values(here?.transitions ?? {}).map(({ event }) => walk(policy, [...reached, event as Press]))
  })
}

const walk = (policy: Policy, all: ReadonlyArray<Press>): Walk => {
  let state = logic.getInitialSnapshot({}, { policy })
  const steps = all.map((press) => {
    const before = state
    state = logic.transition(before, press)
    return { press, afterMs: state.now - before.now, expected: state.of }
  })
  const title = `${all.map(nameOf).join(", ")} → ${waitingFor(state.of)}`
  return { title: policy.reannounceOnDriverRestart ? `with reannouncement: ${title}` : title, policy, steps }
}

const nameOf = (press: Press) => ("name" in press ? `${press.type} ${press.name}` : press.type)

/** The edge cover. Two policies, since one flag chooses between two edges; few attempts, so that the last one is near. */
export const edgeCover = (): ReadonlyArray<Walk> => {
  const policy = { ...defaultPolicy, registrationAttempts: 3 }
  const all = [policy, { ...policy, reannounceOnDriverRestart: true }].flatMap(walksUnder)
  const keys = all.map(({ policy, steps }) => JSON.stringify([policy, ...steps.map(({ press }) => press)]).slice(0, -1))
  const prefixes = new Set(
    all.flatMap(({ policy, steps }) =>
      steps
        .slice(0, -1)
        .map((_, n) => JSON.stringify([policy, ...steps.slice(0, n + 1).map(({ press }) => press)]).slice(0, -1))
    )
  )
  return all.filter((_, n) => !prefixes.has(keys[n] as string))
}
