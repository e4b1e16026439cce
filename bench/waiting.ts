/**
 * When a run says nothing: its main thread waited for a CPU that somebody else had. The kernel counts that in schedstat.
 *
 * The rule holds for figures of time. A figure of CPU time or memory does not change by waiting, and under a CPU quota waiting is what is measured: the kernel
 * counts both in one. The bench's own thread tells nothing: it wakes on the CPU of the process that it waits for, and stays there for a tick.
 */
import { readdirSync, readFileSync } from "node:fs"

/** Of the time of a run, and never more than this many milliseconds; less than the least is in every run. */
const allowed = { share: 0.05, atMostMs: 3, atLeastMs: 1 }

export const rule =
  `a run is dropped, and made again, when its main thread waited for a CPU for more than ${allowed.share * 100} % of its time ` +
  `or ${allowed.atMostMs} ms (${allowed.atLeastMs} ms is always allowed)`

export interface Waited {
  readonly wallMs: number
  /** Of the thread that waited longest. */
  readonly waitedMs: number
}

export const waitedTooLong = ({ wallMs, waitedMs }: Waited): boolean =>
  !(waitedMs <= Math.max(allowed.atLeastMs, Math.min(allowed.atMostMs, allowed.share * wallMs)))

export interface Schedstat {
  readonly cpuMs: number
  /** Ready to run, and not running. */
  readonly waitedMs: number
}

/** `/proc/PID/schedstat`: nanoseconds on a CPU, nanoseconds ready for one, number of turns. */
export const parseSchedstat = (text: string): Schedstat => {
  const [cpu = Number.NaN, waited = Number.NaN] = text.split(" ").map(Number)
  return { cpuMs: cpu / 1e6, waitedMs: waited / 1e6 }
}

/** Of the first thread of a process, also while it is a zombie. */
export const mainThread = (pid: number): Schedstat => parseSchedstat(readFileSync(`/proc/${pid}/schedstat`, "utf8"))

/** CPU time of all threads that a process has now. */
export const cpuMsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((thread) => parseSchedstat(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8")).cpuMs)
    .reduce((sum, cpuMs) => sum + cpuMs, 0)

/** Time since it was made, and how long the main threads of running processes have waited in it. */
export class Stopwatch {
  readonly #from = performance.now()
  readonly #before: ReadonlyMap<number, number>

  constructor(running: ReadonlyArray<number> = []) {
    this.#before = new Map(running.map((pid) => [pid, mainThread(pid).waitedMs]))
  }

  /** `begun`: the main threads of what was started since, as they are now or were at their end. */
  stop(...begun: ReadonlyArray<Schedstat>): Waited {
    const wallMs = performance.now() - this.#from
    const running = [...this.#before].map(([pid, before]) => mainThread(pid).waitedMs - before)
    return { wallMs, waitedMs: Math.max(0, ...running, ...begun.map(({ waitedMs }) => waitedMs)) }
  }
}
