/** A cgroup of our own with a limit of memory or CPU, in version 1 or 2, gone at the end. Needs root. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"

import { ScriptError } from "../scripts/tools.ts"
import { atEnd } from "./atEnd.ts"
import { needRoot } from "./needRoot.ts"
import { entryOf, type Layout, layoutOf, type Memory, memoryOf, periodUs, quotaUs } from "./cgroupFiles.ts"

const emptyLimitMs = 5_000
const lookEveryMs = 10

export interface Limits {
  readonly memoryMiB?: number
  readonly milliCpu?: number
}

let made = 0

const read = (file: string): string => readFileSync(file, "utf8")

export class CgroupsMissingError extends ScriptError {
  override readonly name = "CgroupsMissingError"
  constructor() {
    super("no cgroup hierarchy with the memory and cpu controllers is mounted here")
  }
}

const layout = (): Layout => {
  needRoot()
  const found = layoutOf(read("/proc/mounts"), (root) => read(join(root, "cgroup.controllers")))
  if (found === undefined) throw new CgroupsMissingError()
  return found
}

export class Cgroup {
  /** One in version 2, one of each hierarchy in version 1: a process is in the group when it is in all of them. */
  readonly folders: ReadonlyArray<string>
  readonly #layout = layout()
  readonly #memory: string
  readonly #cpu: string
  readonly #forget: () => void

  /** @throws {RootMissingError} {CgroupsMissingError} and what the kernel says */
  constructor({ memoryMiB, milliCpu }: Limits = {}) {
    const name = `csi-registrar-bench-${process.pid}-${made++}`
    if (this.#layout.version === 2) {
      const { root } = this.#layout
      writeFileSync(join(root, "cgroup.subtree_control"), "+memory +cpu")
      this.#memory = this.#cpu = join(root, name)
    } else {
      this.#memory = join(this.#layout.memory, name)
      this.#cpu = join(this.#layout.cpu, name)
    }
    this.folders = [...new Set([this.#memory, this.#cpu])]
    this.#forget = atEnd(() => {
      for (const folder of this.folders) if (existsSync(folder)) rmdirSync(folder)
    })
    for (const folder of this.folders) mkdirSync(folder)
    if (memoryMiB !== undefined) this.#limitMemory(memoryMiB * 2 ** 20)
    if (milliCpu !== undefined) this.#limitCpu(quotaUs(milliCpu))
  }

  /** As this PID namespace counts them. */
  get pids(): ReadonlyArray<number> {
    return read(join(this.#memory, "cgroup.procs"))
      .split("\n")
      .filter((line) => line !== "")
      .map(Number)
  }

  get memory(): Memory {
    const { version } = this.#layout
    const usage = version === 1 ? "memory.usage_in_bytes" : "memory.current"
    return memoryOf(version, read(join(this.#memory, usage)), read(join(this.#memory, "memory.stat")))
  }

  /** Processes that were killed because the limit of memory was reached. */
  get kills(): number {
    const file = this.#layout.version === 1 ? "memory.oom_control" : "memory.events"
    return entryOf(read(join(this.#memory, file)), "oom_kill")
  }

  /** Kills what is in it, which we have started, and removes it. */
  async close(): Promise<void> {
    const limit = performance.now() + emptyLimitMs
    for (let pids = this.pids; pids.length > 0 && performance.now() < limit; pids = this.pids) {
      for (const pid of pids) process.kill(pid, "SIGKILL")
      await setTimeout(lookEveryMs)
    }
    for (const folder of this.folders) rmdirSync(folder)
    this.#forget()
  }

  #limitMemory(bytes: number): void {
    const swapMax = join(this.#memory, "memory.swap.max")
    if (this.#layout.version === 1) {
      writeFileSync(join(this.#memory, "memory.limit_in_bytes"), String(bytes))
      const withSwap = join(this.#memory, "memory.memsw.limit_in_bytes")
      if (existsSync(withSwap)) writeFileSync(withSwap, String(bytes))
    } else {
      writeFileSync(join(this.#memory, "memory.max"), String(bytes))
      if (existsSync(swapMax)) writeFileSync(swapMax, "0")
    }
  }

  #limitCpu(quota: number): void {
    if (this.#layout.version === 1) {
      writeFileSync(join(this.#cpu, "cpu.cfs_period_us"), String(periodUs))
      writeFileSync(join(this.#cpu, "cpu.cfs_quota_us"), String(quota))
    } else {
      writeFileSync(join(this.#cpu, "cpu.max"), `${quota} ${periodUs}`)
    }
  }
}
