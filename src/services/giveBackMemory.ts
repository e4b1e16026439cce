/**
 * Gives back to the machine what the way to a registration, or a crowd of callers, has needed. A registrar mostly waits, and V8 sees no reason to look for
 * memory that it could do without. Costs some 70 ms of CPU, in one stop of the loop, so nothing else may be going on.
 */
import * as v8 from "node:v8"
import * as vm from "node:vm"

import * as Effect from "effect/Effect"

export interface Machine {
  /** What V8 has taken for its heap, in bytes. */
  readonly heapBytes: () => number
  /** CPU time of this process so far, in milliseconds. */
  readonly cpuMs: () => number
  /** Makes the heap as small as it can be. */
  readonly collect: () => void
}

const lookEveryMs = 8_000
/** Of one CPU, between two looks. Answering a probe every second takes a tenth of it. */
const quietShare = 0.01
const grownBytes = 3 * 1_024 * 1_024

/**
 * Compiled code goes too, the byte code of what ran once and the machine code of what ran often: what is needed again is compiled again. V8 takes these flags
 * at any time; they are set back because its code caches are keyed by them.
 */
const flags = ["expose-gc", "stress-flush-code", "flush-baseline-code"]

type Collect = (options: { readonly type: "major"; readonly execution: "sync"; readonly flavor: "last-resort" }) => void

const machine: Machine = {
  heapBytes: () => v8.getHeapStatistics().total_heap_size,
  cpuMs: () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  },
  collect: () => {
    for (const flag of flags) v8.setFlagsFromString(`--${flag}`)
    const collect: Collect = vm.runInNewContext("gc")
    // As if memory had run out: several rounds, pages are emptied, and the young generation shrinks. A common collection gives hardly anything back.
    collect({ type: "major", execution: "sync", flavor: "last-resort" })
    for (const flag of flags) v8.setFlagsFromString(`--no-${flag}`)
  }
}

/** Never ends. The first quiet moment has it done, and each later one before which the heap has grown by 3 MiB. */
export const giveBackMemory = ({ heapBytes, cpuMs, collect }: Machine = machine): Effect.Effect<never> =>
  Effect.suspend(() => {
    let spentMs = cpuMs()
    let least = 0
    const look = Effect.sync(() => {
      const quiet = cpuMs() - spentMs <= quietShare * lookEveryMs
      spentMs = cpuMs()
      least = Math.min(least, heapBytes())
      if (!quiet || heapBytes() < least + grownBytes) return
      collect()
      least = heapBytes()
    })
    return Effect.forever(Effect.andThen(Effect.sleep(lookEveryMs), look))
  })
