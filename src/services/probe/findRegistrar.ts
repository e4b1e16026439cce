/** Finds the registrar that a probe is about: in `/proc`, by the argument that makes it this driver's. Several may run there (hostPID). */
import * as fs from "node:fs"

import { askingModes } from "../flags/decide.ts"
import { readFlags, type Settings } from "../flags/Flags.ts"

export interface FoundRegistrar {
  readonly pid: number
  readonly uid: number
  readonly settings: Settings
}

/** Empty for a process that has gone. */
const wordsOf = (pid: number | "self"): ReadonlyArray<string> => {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replace(/\0$/, "").split("\0")
  } catch {
    return []
  }
}

/** Undefined where it may not be read, which tells nothing. */
const namespaceOf = (pid: number | "self", kind: "mnt" | "pid"): string | undefined => {
  try {
    return fs.readlinkSync(`/proc/${pid}/ns/${kind}`)
  } catch {
    return undefined
  }
}

/** None where `/proc` is not mounted or may not be read. */
const processes = (): ReadonlyArray<number> => {
  try {
    return fs
      .readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

/** The same namespace, or one that cannot be told apart. */
const shares = (pid: number, kind: "mnt" | "pid") => {
  const theirs = namespaceOf(pid, kind)
  return theirs === undefined || theirs === namespaceOf("self", kind)
}

/** How this program was called, without `args`, its own words. Empty where `/proc` cannot be read. */
export const commandBefore = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const words = wordsOf("self")
  return words.slice(0, Math.max(0, words.length - args.length))
}

/**
 * Every registrar in this PID namespace that was started with this `--kubelet-registration-path`. One that runs in another mount namespace belongs to
 * another pod. `args` are this process's own, which tell how many words stand before them.
 */
export const findRegistrars = (
  kubeletRegistrationPath: string,
  args: ReadonlyArray<string>
): ReadonlyArray<FoundRegistrar> => {
  const wordsBefore = commandBefore(args).length
  return processes()
    .filter((pid) => pid !== process.pid)
    .flatMap((pid) => {
      try {
        const words = wordsOf(pid)
        if (!words.some((word) => word.includes(kubeletRegistrationPath))) return []
        const read = readFlags(words.slice(wordsBefore), "")
        if (read.kind !== "run" || askingModes.has(read.settings.mode)) return []
        if (read.settings.kubeletRegistrationPath !== kubeletRegistrationPath) return []
        if (!shares(pid, "pid") || !shares(pid, "mnt")) return []
        return [{ pid, uid: fs.statSync(`/proc/${pid}`).uid, settings: read.settings }]
      } catch {
        return []
      }
    })
}
