/**
 * What `kubectl describe pod` shows as the message of a container that has ended: the cause, what to do, and how the registrar came there. The kubelet mounts a file
 * for it; where there is none, as at a desk, nothing is made.
 */
import * as fs from "node:fs"

import type { Line } from "./log/Log.ts"
import type { Entry } from "./Status.ts"

const path = "/dev/termination-log"
/** The kubelet reads no more of it. */
const maxBytes = 4_096
const maxCauseBytes = 2_048
const lastTransitions = 10

const cut = (text: string, bytes: number): string => {
  const buffer = Buffer.from(text, "utf8")
  return buffer.length <= bytes
    ? text
    : `${buffer
        .subarray(0, bytes - 3)
        .toString("utf8")
        .replace(/\uFFFD$/, "")}…`
}

/** Of a text of others, line breaks and tabs stay; what could steer a terminal is shown as JSON shows it. */
const visible = (text: string): string =>
  text.replace(
    /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/** A line of the log that is somebody's last words. */
export interface LastWords {
  readonly line: Pick<Line, "message">
  readonly values?: { readonly err?: unknown; readonly advice?: unknown }
}

/** The message for them; `history` oldest first. At most 4,096 bytes. */
export const terminationMessage = (
  { line: { message }, values: { err, advice } = {} }: LastWords,
  history: ReadonlyArray<Entry> = []
): string => {
  const cause = [message, err].filter((part) => part !== undefined && part !== "").join(": ")
  const transitions = history
    .slice(-lastTransitions)
    .map(({ at, event, before, after }) => `${new Date(at).toISOString()} ${event}: ${before} → ${after}`)
  const parts = [
    cut(visible(cause), maxCauseBytes),
    ...(advice === undefined ? [] : [cut(visible(String(advice)), maxCauseBytes / 2)]),
    ...(transitions.length === 0 ? [] : ["", "The last events:", ...transitions])
  ]
  return cut(`${parts.join("\n")}\n`, maxBytes)
}

/** Does nothing where the file is missing or may not be written, and never waits: not for the reader of a FIFO either. */
export const writeTerminationLog = (text: string, file = path): void => {
  try {
    // Without O_CREAT.
    const { O_WRONLY, O_TRUNC, O_NONBLOCK, O_NOCTTY } = fs.constants
    const descriptor = fs.openSync(file, O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOCTTY)
    try {
      fs.writeSync(descriptor, text)
    } finally {
      fs.closeSync(descriptor)
    }
  } catch {
    // The log has it all the same.
  }
}
