/** The chart as plain data, for the page of the inspector: states and transitions by id. */
import { createHash } from "node:crypto"

import type { AnyStateMachine, AnyStateNode } from "xstate"

import type { Chart, Transition } from "../../src/services/inspector/chart.ts"

const statesBelow = (node: AnyStateNode): ReadonlyArray<AnyStateNode> =>
  Object.values(node.states).flatMap((child) => [child, ...statesBelow(child)])

const guardName = (guard: unknown): string | undefined =>
  typeof guard === "string" ? guard : (guard as { type?: string } | undefined)?.type

const transitionsFrom = (source: AnyStateNode): ReadonlyArray<Transition> =>
  [...source.transitions].flatMap(([event, definitions]) =>
    definitions.flatMap((definition) => {
      const guard = guardName(definition.guard)
      const targets: ReadonlyArray<AnyStateNode | undefined> = definition.target ?? [undefined]
      return targets.map((target) => ({
        source: source.id,
        ...(target === undefined ? {} : { target: target.id }),
        event,
        ...(guard === undefined ? {} : { guard })
      }))
    })
  )

/** In the order of the chart's file. */
export const chartOf = (machine: AnyStateMachine): Chart => {
  const nodes = statesBelow(machine.root)
  const states = nodes.map(({ id, path }) => ({ id, path: path.join(".") }))
  const transitions = [machine.root, ...nodes].flatMap(transitionsFrom)
  const hash = createHash("sha256")
    .update(JSON.stringify([states, transitions]))
    .digest("hex")
    .slice(0, 12)
  return { hash, states, transitions }
}
