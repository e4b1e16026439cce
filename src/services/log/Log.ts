/**
 * The log: klog's text or component-base's JSON on stderr, one write for each line, nothing held back. With split
 * streams info lines go to stdout, and may be collected there; an error line is always written at once.
 * It never throws, and no state of the descriptors ends the process (see Output.ts).
 */

import { jsonLine, textLine, type Values } from "./format.ts"
import { makeOutput, type Output } from "./Output.ts"
import { vmoduleLevel, type VmoduleItem } from "./vmodule.ts"
import { makeWallClock } from "./wallClock.ts"

/** The longest delay of a Node timer; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The buffer is written as one string, and those have a limit in V8; nobody gains from a larger one. */
const LARGEST_BUFFER_BYTES = 64 * 1024 * 1024

/** One line of the catalogue (catalogue.ts). Its values are given when it is written. */
export interface Line {
  readonly severity: "info" | "error"
  /** The `--v` from which an info line is shown. Errors always are; theirs is 0. */
  readonly v: number
  /** `file:line`, or `directory/file:line` when the directory that JSON shows is not the program's own. */
  readonly caller: string
  readonly message: string
}

/** Where the lines of one format go. */
interface Routing {
  /** Info lines to stdout, error lines to stderr. */
  readonly splitStream: boolean
  /** How many bytes of info lines may wait, with split streams only. 0 or less: none. */
  readonly infoBufferBytes: number
}

/** The logging flags. */
export interface LogSettings {
  /** `json`, or anything else for text. */
  readonly format: string
  readonly v: number
  /** Text only. */
  readonly vmodule: ReadonlyArray<VmoduleItem>
  /** How long an info line may wait in the buffer. */
  readonly flushFrequencyMs: number
  readonly text: Routing
  readonly json: Routing
}

export interface Log {
  /** Writes the line if it is enabled. `err` may be an Error or a text, other values anything. */
  readonly write: (line: Line, values?: Values) => void
  /** Whether the line would be shown: spares making costly values. */
  readonly enabled: (line: Line) => boolean
  /** Writes what waits in the buffer. Call it before the process ends. */
  readonly flush: () => void
  /** Writes that were lost since the start. */
  readonly dropped: () => number
}

/** Other descriptors, another clock: for tests, and for whoever logs elsewhere. */
export interface LogOptions {
  readonly fd?: number
  readonly infoFd?: number
  /** Milliseconds since the epoch, with a fraction. */
  readonly now?: () => number
  readonly pid?: number
}

export function makeLog(settings: LogSettings, options: LogOptions = {}): Log {
  const { fd = 2, infoFd = 1, now = makeWallClock(), pid = process.pid } = options
  const json = settings.format === "json"
  const routing = json ? settings.json : settings.text
  const raised = vmoduleLevel(json ? [] : settings.vmodule)
  const errors = makeOutput(fd)
  const plainInfos = routing.splitStream ? makeOutput(infoFd) : errors
  const infos = routing.splitStream
    ? buffered(plainInfos, routing.infoBufferBytes, settings.flushFrequencyMs)
    : { write: errors.write, flush: () => {} }

  function enabled(line: Line): boolean {
    return line.severity === "error" || line.v <= settings.v || line.v <= raised(line.caller)
  }

  function write(line: Line, values: Values = {}): void {
    if (!enabled(line)) return
    const text = json ? jsonLine(line, values, now()) : textLine(line, values, now(), pid)
    if (line.severity === "info") {
      infos.write(text)
      return
    }
    // What led to an error is read beside it, so it may not come later.
    infos.flush()
    errors.write(text)
  }

  return {
    write,
    enabled,
    flush: infos.flush,
    dropped: () => errors.dropped() + (plainInfos === errors ? 0 : plainInfos.dropped())
  }
}

/** Collects whole lines up to a size and for a time. A line that is larger than the buffer goes straight out. */
function buffered(output: Output, size: number, flushMs: number): { write(text: string): void; flush(): void } {
  if (size <= 0) return { write: output.write, flush: () => {} }
  const limit = Math.min(size, LARGEST_BUFFER_BYTES)
  let waiting: Array<string> = []
  let bytes = 0
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length > 0) output.write(waiting.join(""))
    waiting = []
    bytes = 0
  }

  function write(text: string): void {
    const length = Buffer.byteLength(text)
    if (bytes + length > limit) flush()
    if (length > limit) {
      output.write(text)
      return
    }
    waiting.push(text)
    bytes += length
    // A timer only while something waits, and none that keeps the process alive.
    timer ??= setTimeout(flush, Math.min(flushMs, LONGEST_TIMER_MS)).unref()
  }

  return { write, flush }
}
