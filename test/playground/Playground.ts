/** `npm start` as a child process with a temporary folder of its own: what it prints, and what is left when it has ended. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"

import { onTestFinished } from "vitest"

import { Journal } from "../../playground/Journal.ts"

const main = resolve(import.meta.dirname, "../../playground/main.ts")
/** A bundle may have to be built first. */
const limitMs = 20_000

export class Playground {
  /** Its TMPDIR. */
  readonly folder = mkdtempSync(join(tmpdir(), "pg-"))
  readonly lines = new Journal<string>()
  /** The exit code, or the signal that has ended it, once all it said is read. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly #child: ChildProcess
  #stderr = ""

  /** Ends with the test, or the hook, that has started it, or by `close`. */
  constructor(...args: ReadonlyArray<string>) {
    const child = spawn(process.execPath, [main, ...args], {
      stdio: "pipe",
      env: { ...process.env, TMPDIR: this.folder }
    })
    this.#child = child
    child.stdin.on("error", () => {})
    child.stderr.on("data", (chunk) => {
      this.#stderr += chunk
    })
    createInterface({ input: child.stdout }).on("line", (line) => this.lines.add(line))
    this.ended = new Promise((settle, reject) => {
      child.once("error", reject)
      child.once("close", (code, signal) => {
        this.lines.close(`it has ended (${signal ?? code}), stderr: ${this.#stderr}`)
        settle(signal ?? code)
      })
    })
  }

  /** As the constructor, for use within a test. */
  static start(...args: ReadonlyArray<string>): Playground {
    const playground = new Playground(...args)
    onTestFinished(() => playground.close())
    return playground
  }

  get stderr(): string {
    return this.#stderr
  }

  /** The first line with this text, printed before or yet to come. */
  says(text: string | RegExp, from = 0): Promise<string> {
    const matches = (line: string) => (typeof text === "string" ? line.includes(text) : text.test(line))
    return this.lines.waitFor(`a line with ${text}`, matches, { limitMs, from })
  }

  /** One line to its stdin. */
  type(words: string): void {
    this.#child.stdin?.write(`${words}\n`)
  }

  endInput(): void {
    this.#child.stdin?.end()
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Nobody reads its stdout any more. */
  stopReading(): void {
    this.#child.stdout?.destroy()
  }

  /** Files in its folder, and processes that have the folder's name on their command line. */
  leftOvers(): ReadonlyArray<string> {
    return [...readdirSync(this.folder), ...this.#processes().map((pid) => `process ${pid}`)]
  }

  async close(): Promise<void> {
    this.#child.kill("SIGTERM")
    await this.ended
    for (const pid of this.#processes()) process.kill(pid, "SIGKILL")
    rmSync(this.folder, { recursive: true, force: true })
  }

  #processes(): ReadonlyArray<number> {
    const pids = readdirSync("/proc").map(Number).filter(Number.isInteger)
    return pids.filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`${this.folder}/`)
      } catch {
        return false
      }
    })
  }
}
