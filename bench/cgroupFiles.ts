/** What the kernel's cgroup files say, of version 1 (a hierarchy for each controller) and 2 (one for all). */

export type Layout =
  | { readonly version: 1; readonly memory: string; readonly cpu: string }
  | { readonly version: 2; readonly root: string }

interface Mount {
  readonly at: string
  readonly type: string
  readonly options: ReadonlyArray<string>
}

const parseMounts = (text: string): ReadonlyArray<Mount> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [, at = "", type = "", options = ""] = line.split(" ")
      return { at, type, options: options.split(",") }
    })

/**
 * Where the memory and cpu controllers are, by `/proc/mounts`. In a hybrid, version 2 is mounted too, without them.
 *
 * @param controllersAt what `cgroup.controllers` of a version 2 mount says
 */
export const layoutOf = (mounts: string, controllersAt: (root: string) => string): Layout | undefined => {
  const all = parseMounts(mounts)
  const hierarchy = (controller: string) =>
    all.find(({ type, options }) => type === "cgroup" && options.includes(controller))?.at
  const memory = hierarchy("memory")
  const cpu = hierarchy("cpu")
  if (memory !== undefined && cpu !== undefined) return { version: 1, memory, cpu }
  const root = all.find(({ at, type }) => {
    if (type !== "cgroup2") return false
    const controllers = controllersAt(at).trim().split(" ")
    return controllers.includes("memory") && controllers.includes("cpu")
  })?.at
  return root === undefined ? undefined : { version: 2, root }
}

/** Files of a name and a number a line, as memory.stat is. 0 for what is not there. */
export const entryOf = (text: string, name: string): number => {
  const line = text.split("\n").find((line) => line.startsWith(`${name} `))
  return line === undefined ? 0 : Number(line.slice(name.length + 1))
}

const MiB = 2 ** 20

export interface Memory {
  readonly anonymousMiB: number
  /** What is in use and not page cache that could go at once: the kubelet's own figure. */
  readonly workingSetMiB: number
}

/** Of memory.usage_in_bytes or memory.current, and memory.stat. */
export const memoryOf = (version: Layout["version"], usage: string, stat: string): Memory => {
  const [anonymous, inactiveFile] = version === 1 ? ["total_rss", "total_inactive_file"] : ["anon", "inactive_file"]
  return {
    anonymousMiB: entryOf(stat, anonymous) / MiB,
    workingSetMiB: Math.max(0, Number(usage) - entryOf(stat, inactiveFile)) / MiB
  }
}

/** Of a limit in milli-CPUs, in a period of 100 ms: microseconds. */
export const periodUs = 100_000
export const quotaUs = (milliCpu: number): number => (milliCpu / 1_000) * periodUs
