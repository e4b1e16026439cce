/** Where the chart stood at an entry of a record, by the ids of the picture. Pure; shared by the page and its tests. */
import type { Entry, StateValue } from "./record.ts"

export interface Chart {
  readonly hash: string
  /** Paths are from below the root, with dots. */
  readonly states: ReadonlyArray<{ readonly id: string; readonly path: string }>
  readonly transitions: ReadonlyArray<Transition>
}

export interface Transition {
  /** Ids of states; without a target it stays where it is. */
  readonly source: string
  readonly target?: string
  readonly event: string
  readonly guard?: string
}

export interface Moment {
  readonly entry: Entry
  /** Ids of the states that are active, outer ones first. */
  readonly active: ReadonlyArray<string>
  /** Id of the transition that led here, or of the state that took it and stayed. */
  readonly taken: string | undefined
}

/** The name of an event as it stands in the picture. */
export const eventName = (event: string): string => {
  if (event.startsWith("xstate.after.")) return `after ${event.split(".")[2]}`
  if (event.startsWith("xstate.done.actor.")) return "drained"
  return event === "xstate.init" ? "start" : event
}

const pathsOf = (value: StateValue, above = ""): ReadonlyArray<string> =>
  typeof value === "string"
    ? [above + value]
    : Object.entries(value).flatMap(([name, inner]) => [above + name, ...pathsOf(inner, `${above}${name}.`)])

/** States of another chart than this are left out. */
export const activeStates = ({ states }: Chart, value: StateValue): ReadonlyArray<string> => {
  const active = new Set(pathsOf(value))
  return states.filter(({ path }) => active.has(path)).map(({ id }) => id)
}

/**
 * The transition that led from one value to the next. The record does not tell it; but of those that were possible, one leads here: a guard decides between
 * targets of which one is within the other, or not active.
 */
export const transitionTaken = (
  chart: Chart,
  before: StateValue,
  event: string,
  after: StateValue
): Transition | undefined => {
  const [left, entered] = [new Set(activeStates(chart, before)), new Set(activeStates(chart, after))]
  const depth = (id: string | undefined) =>
    id === undefined ? 0 : (chart.states.find((state) => state.id === id)?.path.split(".").length ?? 0)
  return chart.transitions
    .filter(({ source, target, event: on }) => on === event && left.has(source) && entered.has(target ?? source))
    .sort((a, b) => depth(b.target) - depth(a.target) || depth(b.source) - depth(a.source))[0]
}

/** The id that a transition has in the picture. */
export const transitionId = ({ source, target }: Transition): string =>
  target === undefined ? source : `${source}--${target}`

/** Undefined when there is no such entry. What led to the first entry is not known. */
export const momentAt = (chart: Chart, entries: ReadonlyArray<Entry>, n: number): Moment | undefined => {
  const entry = entries[n]
  if (entry === undefined) return undefined
  const before = entries[n - 1]
  const taken = before === undefined ? undefined : transitionTaken(chart, before.value, entry.event, entry.value)
  return {
    entry,
    active: activeStates(chart, entry.value),
    taken: taken === undefined ? undefined : transitionId(taken)
  }
}
