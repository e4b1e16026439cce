/** Prometheus' own tool, where the machine has it: `promtool` of Debian's package `prometheus`, or of any release from 2.42 on. */
import { spawnSync } from "node:child_process"

export const hasPromtool = spawnSync("promtool", ["--version"]).status === 0

/** Behind the title of a case that needs it. */
export const withPromtool = hasPromtool ? "" : " (left out: promtool is not installed)"

export interface Told {
  readonly status: number | null
  /** Both streams. */
  readonly said: string
}

/** `promtool ARGS`, with a text on its stdin. */
export const promtool = (args: ReadonlyArray<string>, input = ""): Told => {
  const { status, stdout, stderr } = spawnSync("promtool", args, { input, encoding: "utf8", timeout: 60_000 })
  return { status, said: stdout + stderr }
}
