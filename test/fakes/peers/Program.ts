import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"

import { Feed } from "./Feed.ts"

const stopTimeoutMs = 5_000

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Milliseconds since the epoch. */
  readonly at: number
}

// A run that is broken off skips the finalizers of its tests, not this.
const running = new Set<ChildProcess>()
process.once("exit", () => {
  for (const child of running) {
    child.kill("SIGKILL")
  }
})

/** A program that a test has started, by absolute path: what it says, line by line, and how it ends. */
export class Program {
  readonly name: string
  readonly pid: number
  readonly stdout: Feed<string>
  readonly stderr: Feed<string>
  /** Resolves when the process is gone and all it said has been read. */
  readonly exited: Promise<Exit>
  readonly #child: ChildProcess

  constructor(name: string, command: ReadonlyArray<string>) {
    const [file = "", ...args] = command
    this.name = name
    this.stdout = new Feed(`stdout of ${name}`)
    this.stderr = new Feed(`stderr of ${name}`)
    const child = spawn(file, args, { stdio: "pipe" })
    this.#child = child
    running.add(child)
    this.pid = child.pid ?? Number.NaN
    const { promise, resolve, reject } = Promise.withResolvers<Exit>()
    this.exited = promise
    // A program that cannot be started is told by whoever waits for it.
    promise.catch(() => {})
    // A write to a process that has ended tells its exit, not EPIPE.
    child.stdin.on("error", () => {})
    createInterface({ input: child.stdout }).on("line", (line) => this.stdout.push(line))
    createInterface({ input: child.stderr }).on("line", (line) => this.stderr.push(line))
    child.once("error", (error) => {
      running.delete(child)
      reject(error)
    })
    let at = Number.NaN
    child.once("exit", () => {
      at = performance.timeOrigin + performance.now()
      running.delete(child)
    })
    child.once("close", (code, signal) => {
      this.stdout.end()
      this.stderr.end()
      resolve({ code, signal, at })
    })
  }

  get running(): boolean {
    return running.has(this.#child)
  }

  /** Writes one line of JSON to its stdin. */
  tell(command: object): void {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`)
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** SIGTERM. A program that does not end on it within 5 s is killed, and that is an error. */
  async stop(): Promise<Exit> {
    let killed = false
    const limit = setTimeout(() => {
      killed = true
      this.#child.kill("SIGKILL")
    }, stopTimeoutMs)
    this.#child.kill("SIGTERM")
    const exit = await this.exited.finally(() => clearTimeout(limit))
    if (killed) {
      throw new Error(`${this.name} was still there ${stopTimeoutMs} ms after SIGTERM`)
    }
    return exit
  }

  async kill(): Promise<Exit> {
    this.#child.kill("SIGKILL")
    return this.exited
  }
}
