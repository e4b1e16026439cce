/**
 * The probe mode: asks the registrar that runs beside this process, and says what it found. Loads nothing of node beyond `node:fs`, since it must fit beside
 * the registrar in a limit of 32 MiB.
 */
import * as fs from "node:fs"

import type { Settings } from "../flags/Flags.ts"
import * as lines from "../log/catalogue.ts"
import type { Line } from "../log/Log.ts"
import { askLine } from "./askLine.ts"
import { type FoundRegistrar, findRegistrars } from "./findRegistrar.ts"
import { type StatusAnswer, statusSocketPath } from "./statusSocketName.ts"

/** How long a registrar may take to answer; the manifests' own limits for this probe start at 15 s. */
const limitMs = 10_000
/** A registrar that has just started has no status socket yet. */
const retryMs = 100
/** In bytes: two texts of 2,000 characters, each of six bytes at worst (`\u0001`), and what stands around them. */
const longestAnswer = 32_768

export interface ProbeResult {
  readonly code: 0 | 1
  readonly line: Line
  readonly values: Readonly<Record<string, unknown>>
}

/** Asks once; rejects with the reason when nobody answers in time. */
const ask = async (socketPath: string, uid: number, deadline: number): Promise<StatusAnswer> => {
  const { uid: owner } = fs.lstatSync(socketPath)
  if (owner !== uid) throw new Error(`${socketPath} belongs to uid ${owner}, the registrar runs as ${uid}`)
  const line = await askLine({ path: socketPath, withinMs: deadline - performance.now(), longest: longestAnswer })
  try {
    return JSON.parse(line) as StatusAnswer
  } catch {
    throw new Error("an answer that is none")
  }
}

/** Asks until there is an answer; rejects with the last reason at `deadline`, on the clock of `performance.now()`. */
export const askUntil = async ({ pid, uid, settings }: FoundRegistrar, deadline: number): Promise<StatusAnswer> => {
  for (;;) {
    try {
      return await ask(statusSocketPath(settings.pluginRegistrationPath, pid), uid, deadline)
    } catch (error) {
      if (performance.now() + retryMs >= deadline) throw error
      await new Promise((resume) => setTimeout(resume, retryMs))
    }
  }
}

/** What the probe found, and its exit code; takes at most 10 s. `args` are those of this process. */
export const probe = async (
  { kubeletRegistrationPath, probe: wanted }: Settings,
  args: ReadonlyArray<string>
): Promise<ProbeResult> => {
  const found = findRegistrars(kubeletRegistrationPath, args)
  if (found.length === 0) {
    return wanted === "alive"
      ? { code: 0, line: lines.probeNobody, values: { kubeletRegistrationPath } }
      : { code: 1, line: lines.probeFailed, values: { err: "no registrar runs here", kubeletRegistrationPath } }
  }
  const deadline = performance.now() + limitMs
  const answers = await Promise.allSettled(found.map((registrar) => askUntil(registrar, deadline)))
  const [pid] = found.map(({ pid }) => pid)
  const answered = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []))
  const [first] = answered
  if (first === undefined) {
    const [answer] = answers
    const error: NodeJS.ErrnoException = answer?.status === "rejected" ? answer.reason : new Error("")
    if (wanted === "alive" && error.code === "ENOENT") {
      return { code: 0, line: lines.probeNobody, values: { kubeletRegistrationPath, err: error.message, pid } }
    }
    const reason = error.message
    return { code: 1, line: lines.probeFailed, values: { err: `the registrar does not answer: ${reason}`, pid } }
  }
  const best = answered.find(({ registered }) => registered) ?? first
  if (wanted === "registered" && !best.registered) {
    return { code: 1, line: lines.probeFailed, values: { err: best.reason, state: best.state, pid } }
  }
  return { code: 0, line: lines.probeSucceeded, values: { state: best.state, pid } }
}
