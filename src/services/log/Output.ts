/**
 * A file descriptor that log lines go to, and that never stops the process: a line that cannot be written is counted
 * and forgotten, whether the reader is gone (EPIPE), the disk is full (ENOSPC), nobody reads (EAGAIN) or it is closed (EBADF).
 * Writes are synchronous: what was logged before a crash has been written.
 */

import * as fs from "node:fs"

/** A reader that has fallen behind gets this long once; after a loss each line is tried once, until one goes through. */
const EAGAIN_RETRIES = 10
const EAGAIN_PAUSE_MS = 1

export interface Output {
  /** Writes the text in one go. False if not all of it went out; never throws. */
  readonly write: (text: string) => boolean
  /** Texts that were not written, or not to their end. */
  readonly dropped: () => number
}

/** One output for each descriptor, or a torn line is not noticed by the next. */
export function makeOutput(fd: number): Output {
  let dropped = 0
  let torn = false
  let patience = EAGAIN_RETRIES

  function write(text: string): boolean {
    // A line that was cut off must not swallow the start of this one.
    const bytes = Buffer.from(torn ? `\n${text}` : text)
    const sent = writeWhole(fd, bytes, patience)
    if (sent === bytes.length) {
      torn = false
      patience = EAGAIN_RETRIES
      return true
    }
    dropped++
    torn ||= sent > 0
    patience = 0
    return false
  }

  return { write, dropped: () => dropped }
}

/** Answers how many bytes went out. */
function writeWhole(fd: number, bytes: Buffer, retries: number): number {
  let sent = 0
  let left = retries
  while (sent < bytes.length) {
    try {
      const count = fs.writeSync(fd, bytes, sent)
      if (count === 0) return sent
      sent += count
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || left-- === 0) return sent
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EAGAIN_PAUSE_MS)
    }
  }
  return sent
}
