/** What must not outlive the bench, however it ends: processes, mounts, cgroups, folders. */

const tries = 100
const restMs = 10

const leftovers = new Set<() => void>()
const clock = new Int32Array(new SharedArrayBuffer(4))

/** A mount or a cgroup is busy until the processes in it, which were killed a moment ago, are gone. */
const removed = (remove: () => void): unknown => {
  for (let left = tries; ; left--) {
    try {
      return remove()
    } catch (error) {
      if (left === 0) return console.error(`left behind: ${error instanceof Error ? error.message : error}`)
      Atomics.wait(clock, 0, 0, restMs)
    }
  }
}

process.once("exit", () => {
  for (const remove of [...leftovers].toReversed()) removed(remove)
})

/** Runs `remove` when the bench ends, last first, unless what it returns was called before: the thing is gone already. */
export const atEnd = (remove: () => void): (() => void) => {
  leftovers.add(remove)
  return () => void leftovers.delete(remove)
}
