/** A process under measurement: a clean environment, no output, and what its main thread had used and waited when it ended. */
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { setTimeout } from "node:timers/promises"

import { atEnd } from "./atEnd.ts"
import { cpuMsOf, mainThread, type Schedstat } from "./waiting.ts"

const endLimitMs = 10_000
/** How long a process has to use no CPU before it is at rest; under a quota it may be kept from one for 90 ms. */
const restMs = 250
const restLimitMs = 60_000

export interface Command {
  readonly file: string
  readonly args: ReadonlyArray<string>
  /** All of it. */
  readonly environment: Readonly<Record<string, string>>
}

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The main thread with its exit; not numbers where it could not be read. */
  readonly last: Schedstat
}

const unread: Schedstat = { cpuMs: Number.NaN, waitedMs: Number.NaN }

export class Process {
  readonly pid: number
  readonly ended: Promise<Ending>
  readonly #child: ChildProcess
  readonly #forget: () => void

  /** It runs when the constructor returns. */
  constructor({ file, args, environment }: Command) {
    const child = spawn(file, args, { stdio: ["ignore", "ignore", "ignore", "pipe"], env: environment })
    this.#child = child
    this.pid = child.pid ?? Number.NaN
    this.#forget = atEnd(() => child.kill("SIGKILL"))
    // The kernel closes its end of this pipe late in its exit. libuv looks at pipes before it reaps children, so the process is still there to be read.
    let last = unread
    const pipe = child.stdio[3] as Readable
    pipe
      .on("end", () => {
        try {
          last = mainThread(this.pid)
        } catch {
          // Reaped all the same: the run counts as one that waited.
        }
      })
      .on("error", () => {})
      .resume()
    const { promise, resolve, reject } = Promise.withResolvers<Ending>()
    this.ended = promise
    promise.catch(() => {})
    child.once("error", (error) => {
      this.#forget()
      reject(error)
    })
    child.once("exit", (code, signal) => {
      this.#forget()
      resolve({ code, signal, last })
    })
  }

  /** `work`, unless the process ends before that. */
  async during<A>(work: Promise<A>): Promise<A> {
    work.catch(() => {})
    const early = this.ended.then(({ code, signal }) => Promise.reject(new Error(`it ended with ${code ?? signal}`)))
    return Promise.race([work, early])
  }

  /** Ends it by a signal, and by SIGKILL when that is not enough; does nothing when it has ended. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<Ending> {
    this.#child.kill(signal)
    const limit = globalThis.setTimeout(() => this.#child.kill("SIGKILL"), endLimitMs)
    try {
      return await this.ended
    } finally {
      clearTimeout(limit)
    }
  }
}

/** Resolves once a process has used no CPU for a while. */
export const atRest = async (pid: number): Promise<void> => {
  const limit = performance.now() + restLimitMs
  for (let before = Number.NaN, now = cpuMsOf(pid); now !== before; before = now, now = cpuMsOf(pid)) {
    if (performance.now() > limit) throw new Error(`it is not at rest after ${restLimitMs / 1_000} s`)
    await setTimeout(restMs)
  }
}
