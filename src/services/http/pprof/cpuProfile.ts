/** V8's CPU profile as one of pprof. Pure. */
import type { Profiler } from "node:inspector"

import { frameOf } from "./frameOf.ts"
import type { Frame, Profile, Sample } from "./Profile.ts"

const nanosPerUs = 1_000

/**
 * A sample stands for the time since the one before it. V8 may note two samples in the wrong order, their times then run backwards: time that has been
 * given away already is not taken back, so the values add up to the time of the latest sample.
 *
 * @param intervalUs the sampling interval that was asked for
 * @param takenAtMs when it began, in milliseconds since the epoch
 */
export const cpuProfile = (
  { nodes, samples = [], timeDeltas = [], startTime, endTime }: Profiler.Profile,
  intervalUs: number,
  takenAtMs: number
): Profile => {
  const used = new Map<number, { count: number; us: number }>()
  let now = 0
  let given = 0
  for (const [i, id] of samples.entries()) {
    now += timeDeltas[i] ?? 0
    const us = Math.max(0, now - given)
    given += us
    const { count, us: before } = used.get(id) ?? { count: 0, us: 0 }
    used.set(id, { count: count + 1, us: before + us })
  }

  const stacks = stacksOf(nodes)
  return {
    types: [
      { type: "samples", unit: "count" },
      { type: "cpu", unit: "nanoseconds" }
    ],
    defaultType: "cpu",
    samples: Array.from(
      used,
      ([id, { count, us }]): Sample => ({ stack: stacks(id), values: [count, us * nanosPerUs] })
    ),
    period: { type: "cpu", unit: "nanoseconds", every: intervalUs * nanosPerUs },
    takenAtMs,
    durationMs: (endTime - startTime) / 1_000
  }
}

/** The stack of a node by its id, without the root, which is above everything. */
const stacksOf = (nodes: Profiler.Profile["nodes"]): ((id: number) => ReadonlyArray<Frame>) => {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, frameOf(callFrame)]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  return (id) => {
    const stack: Array<Frame> = []
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at)
      if (frame !== undefined && (stack.length === 0 || parents.has(at))) stack.push(frame)
    }
    return stack
  }
}
