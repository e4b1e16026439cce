/** The transitions of a chart by a key that survives `provide`: source, event, place among that event's transitions, targets. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition, InspectionEvent } from "xstate"
import { toDirectedGraph } from "xstate/graph"

export interface Transition {
  readonly key: string
  readonly source: AnyStateNode
  /** The source itself when the transition stays. */
  readonly target: AnyStateNode
  readonly stays: boolean
  readonly event: string
  readonly guard: string | undefined
}

/** Undefined for what is no edge of the picture: the initial transition. */
const keyOf = (transition: AnyTransitionDefinition): string | undefined => {
  const { source, eventType, target } = transition
  const index = source.transitions.get(eventType)?.indexOf(transition) ?? -1
  return index < 0
    ? undefined
    : `${source.id} :: ${eventType}#${index} -> ${(target ?? [source]).map(({ id }) => id).join(", ")}`
}

const guardName = (guard: unknown): string | undefined =>
  typeof guard === "string" ? guard : (guard as { type?: string } | undefined)?.type

/** Every transition of the chart, in the order of its file. */
export const transitionsOf = (machine: AnyStateMachine): ReadonlyArray<Transition> => {
  const of = (graph: ReturnType<typeof toDirectedGraph>): Array<Transition> => [
    ...graph.edges.flatMap(({ source, target, transition }) => {
      const key = keyOf(transition)
      return key === undefined
        ? []
        : [
            {
              key,
              source,
              target,
              stays: transition.target === undefined,
              event: transition.eventType,
              guard: guardName(transition.guard)
            }
          ]
    }),
    ...graph.children.flatMap(of)
  ]
  return of(toDirectedGraph(machine))
}

/** The keys of what a step took. */
export const takenTransitions = (event: InspectionEvent): ReadonlyArray<string> =>
  event.type === "@xstate.microstep"
    ? event._transitions.map(keyOf).filter((key): key is string => key !== undefined)
    : []
