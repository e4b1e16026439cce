/** What Prometheus' own clients tell of a process, under their names. What /proc does not tell is left out. */
import * as fs from "node:fs"

import { definitions } from "./definitions.ts"
import type { Family } from "./exposition.ts"

/** The answer reads anew each time; the start is found out once, so that a clock that is set does not move it. */
export const makeProcessFamilies = (): (() => ReadonlyArray<Family>) => {
  const startSeconds = Math.round(Date.now() - process.uptime() * 1_000) / 1_000
  return () => {
    const { user, system } = process.cpuUsage()
    const values = [
      [definitions.cpu, (user + system) / 1_000_000],
      [definitions.residentMemory, process.memoryUsage.rss()],
      [definitions.openFds, openFds()],
      [definitions.maxFds, maxFds()],
      [definitions.startTime, startSeconds]
    ] as const
    return values.flatMap(([definition, value]) =>
      value === undefined ? [] : [{ ...definition, samples: [{ labels: {}, value }] }]
    )
  }
}

/** Without the one that reading the folder takes. */
const openFds = (): number | undefined => attempt(() => fs.readdirSync("/proc/self/fd").length - 1)

/** The soft limit, which is the one that bites. */
const maxFds = (): number | undefined => {
  const [, soft] =
    /^Max open files\s+(\S+)/m.exec(attempt(() => fs.readFileSync("/proc/self/limits", "utf8")) ?? "") ?? []
  if (soft === undefined) return undefined
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft)
}

const attempt = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}
