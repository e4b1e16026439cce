/**
 * The real registrar as a process: its log line by line, its lifecycle state as `/readyz?verbose` tells it, and its end. The state is asked for
 * every few milliseconds, so one that is left at once may be missed.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { createServer, type AddressInfo } from "node:net"
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"

import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import { Journal } from "./Journal.ts"
import { type LogLine, parseLogLine } from "./logLine.ts"

/** How often the state is asked for. */
const pollMs = 25
/** A registrar takes some 20 ms to stop, and never more than its own limit of 2 s. */
const stopLimitMs = 4_000

export interface RegistrarSettings {
  /** How people call it. */
  readonly label: string
  readonly bundle: string
  readonly csiAddress: string
  /** The kubelet's plugin directory. */
  readonly registry: string
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** What `/readyz?verbose` answers, as far as it is shown. */
export interface Readiness {
  readonly state: string
  readonly reason: string
  readonly since: string
}

export const describeExit = ({ code, signal }: Exit): string =>
  signal === null ? `exit ${code}` : `ended by ${signal}`

export class RegistrarProcess {
  readonly label: string
  readonly pid: number
  readonly endpoint: string
  readonly log = new Journal<LogLine>(({ text }) => text)
  /** Each state when it is first seen, and again when it comes back. */
  readonly states = new Journal<Readiness>(({ state }) => state)
  readonly exited: Promise<Exit>
  readonly #child: ChildProcess
  #asked = false
  #exit: Exit | undefined

  constructor({ label, bundle, csiAddress, registry }: RegistrarSettings, port: number) {
    this.label = label
    this.endpoint = `127.0.0.1:${port}`
    const flags = [
      `--csi-address=${csiAddress}`,
      `--kubelet-registration-path=${csiAddress}`,
      `--plugin-registration-path=${registry}`,
      `--http-endpoint=${this.endpoint}`,
      "--enable-inspector"
    ]
    // A process group of its own: the Ctrl-C of a terminal is ours to pass on.
    const child = spawn(process.execPath, [bundle, ...flags], { stdio: ["ignore", "ignore", "pipe"], detached: true })
    this.#child = child
    this.pid = child.pid ?? Number.NaN
    createInterface({ input: child.stderr }).on("line", (line) => this.log.add(parseLogLine(line)))
    const killed = () => void child.kill("SIGKILL")
    process.once("exit", killed)
    this.exited = new Promise((resolve, reject) => {
      child.once("error", reject)
      child.once("close", (code, signal) => {
        process.off("exit", killed)
        this.#exit = { code, signal }
        const ended = `the ${label} has ended (${describeExit(this.#exit)})`
        this.log.close(ended)
        this.states.close(ended)
        resolve(this.#exit)
      })
    })
    this.exited.catch(() => {})
    void this.#followState()
  }

  get state(): Readiness | undefined {
    return this.states.all.at(-1)
  }

  get isRunning(): boolean {
    return this.#exit === undefined
  }

  /** Whether its end was our wish. */
  get wasAskedToStop(): boolean {
    return this.#asked
  }

  /** SIGTERM, and SIGKILL when that does not help in time. */
  async stop(): Promise<Exit> {
    this.#asked = true
    this.#child.kill("SIGTERM")
    const limit = setTimeout(() => this.#child.kill("SIGKILL"), stopLimitMs)
    return this.exited.finally(() => clearTimeout(limit))
  }

  async #followState(): Promise<void> {
    while (this.#exit === undefined) {
      const seen = await this.#ask()
      if (seen !== undefined && seen.state !== this.state?.state && this.#exit === undefined) this.states.add(seen)
      await delay(pollMs)
    }
  }

  async #ask(): Promise<Readiness | undefined> {
    try {
      const answer = await fetch(`http://${this.endpoint}/readyz?verbose`, { signal: AbortSignal.timeout(1_000) })
      return (await answer.json()) as Readiness
    } catch {
      // Not listening yet, not any more, or not a word of JSON before the chart has started.
      return undefined
    }
  }
}

/** Runs until the scope ends. */
export const startRegistrar = (settings: RegistrarSettings): Effect.Effect<RegistrarProcess, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(Effect.promise(freePort), (port) => new RegistrarProcess(settings, port)),
    (registrar) => Effect.promise(() => registrar.stop())
  )

/** A TCP port that was free a moment ago. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
