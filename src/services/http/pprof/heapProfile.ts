/** V8's sampling heap profile as one of pprof. Pure. */
import type { Runtime } from "node:inspector"

import { frameOf } from "./frameOf.ts"
import type { Frame, Profile, Sample } from "./Profile.ts"

/** As the inspector has it; node's types know neither ids nor samples. */
export interface HeapProfile {
  readonly head: HeapNode
  /** The sampled allocations that are still alive. */
  readonly samples: ReadonlyArray<{ readonly nodeId: number }>
}

export interface HeapNode {
  readonly id: number
  readonly callFrame: Runtime.CallFrame
  /** In bytes: V8's estimate of all live allocations here, sampled or not. */
  readonly selfSize: number
  readonly children: ReadonlyArray<HeapNode>
}

/**
 * Objects are the sampled ones, since V8 tells no estimate of all.
 *
 * @param intervalBytes the mean of bytes between two samples
 * @param takenAtMs in milliseconds since the epoch
 */
export const heapProfile = ({ head, samples }: HeapProfile, intervalBytes: number, takenAtMs: number): Profile => {
  const alive = new Map<number, number>()
  for (const { nodeId } of samples) alive.set(nodeId, (alive.get(nodeId) ?? 0) + 1)

  const found: Array<Sample> = []
  const visit = ({ id, callFrame, selfSize, children }: HeapNode, callers: ReadonlyArray<Frame>): void => {
    const stack = [frameOf(callFrame), ...callers]
    const objects = alive.get(id) ?? 0
    if (objects > 0 || selfSize > 0) found.push({ stack, values: [objects, selfSize] })
    // The root is above everything, and named only where there is nothing else.
    for (const child of children) visit(child, id === head.id ? [] : stack)
  }
  visit(head, [])

  return {
    types: [
      { type: "objects", unit: "count" },
      { type: "space", unit: "bytes" }
    ],
    defaultType: "space",
    samples: found,
    period: { type: "space", unit: "bytes", every: intervalBytes },
    takenAtMs,
    durationMs: 0
  }
}
