/** A driver, a kubelet that calls at once, and the folder between them. */
import * as fs from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout } from "node:timers/promises"

import { registerAt } from "../scripts/binary/life.ts"
import { CsiDriver } from "../test/fakes/peers/CsiDriver.ts"
import { FeedTimeoutError } from "../test/fakes/peers/Feed.ts"
import { FolderWatch } from "../test/fakes/peers/FolderWatch.ts"
import { atEnd } from "./atEnd.ts"
import { type Candidate, commandOf } from "./candidates.ts"
import { atRest, Process } from "./Process.ts"
import { Stopwatch, type Waited } from "./waiting.ts"

const socketPathLimit = 107
const callAgainMs = 1
const listenLimitMs = 5_000

export class World {
  readonly root = fs.mkdtempSync(path.join(os.tmpdir(), "bench-"))
  readonly folder: string
  readonly socket: string
  readonly driver: CsiDriver
  readonly #watch: FolderWatch
  readonly #processes: Array<Process> = []
  readonly #forget = atEnd(() => fs.rmSync(this.root, { recursive: true, force: true }))

  /** `folder`: of another world, when they share a node. */
  constructor(driverName = "bench.example.com", folder?: string) {
    this.folder = folder ?? path.join(this.root, "registry")
    fs.mkdirSync(this.folder, { recursive: true })
    this.socket = path.join(this.folder, `${driverName}-reg.sock`)
    if (this.socket.length > socketPathLimit)
      throw new Error(`${this.socket}: too long for a socket; TMPDIR is too deep`)
    this.driver = new CsiDriver(path.join(this.root, "csi.sock"), driverName)
    this.#watch = new FolderWatch(this.folder)
  }

  /** Flags that every registrar knows. */
  get flags(): ReadonlyArray<string> {
    const { address } = this.driver
    return [
      `--csi-address=${address}`,
      `--kubelet-registration-path=${address}`,
      `--plugin-registration-path=${this.folder}`
    ]
  }

  get probeFlags(): ReadonlyArray<string> {
    return ["--mode=kubelet-registration-probe", `--kubelet-registration-path=${this.driver.address}`]
  }

  start(candidate: Candidate, ...flags: ReadonlyArray<string>): Process {
    const process = new Process(commandOf(candidate, ...this.flags, ...flags))
    this.#processes.push(process)
    return process
  }

  /** The next time that a registration socket is in place, after a moment on the clock of `performance.now()`; that moment. */
  async socketAppears(since = 0): Promise<number> {
    try {
      return (await this.#watch.appears(path.basename(this.socket), since)).at
    } catch (error) {
      throw error instanceof FeedTimeoutError ? new Error("no registration socket appeared in time") : error
    }
  }

  /** Ends once a registrar has been told that it is registered. A socket that does not listen yet is called again, as a kubelet would. */
  async registered(): Promise<void> {
    const at = await this.socketAppears()
    for (;;) {
      try {
        return await registerAt(this.socket)
      } catch (error) {
        if (!String(error).includes("ECONNREFUSED") || performance.now() - at > listenLimitMs) throw error
        await setTimeout(callAgainMs)
      }
    }
  }

  /** A registrar that is registered and at rest. */
  async settled(candidate: Candidate, ...flags: ReadonlyArray<string>): Promise<Process> {
    await this.driver.comes()
    const registrar = this.start(candidate, ...flags)
    await registrar.during(this.registered())
    await atRest(registrar.pid)
    return registrar
  }

  async close(): Promise<void> {
    for (const process of this.#processes) await process.end("SIGKILL").catch(() => {})
    this.driver.goes()
    this.#watch.close()
    fs.rmSync(this.root, { recursive: true, force: true })
    this.#forget()
  }
}

export const inWorld = async <A>(work: (world: World) => Promise<A>, driverName?: string): Promise<A> => {
  const world = new World(driverName)
  try {
    return await work(world)
  } finally {
    await world.close()
  }
}

/** A run of a program to its end, which has to be a good one. */
export const wholeRun = async (
  candidate: Candidate,
  ...args: ReadonlyArray<string>
): Promise<{ readonly cpuMs: number; readonly waited: Waited }> => {
  const stopwatch = new Stopwatch()
  const { code, signal, last } = await new Process(commandOf(candidate, ...args)).ended
  const waited = stopwatch.stop(last)
  if (code !== 0) throw new Error(`it ended with ${code ?? signal}`)
  return { cpuMs: last.cpuMs, waited }
}

/** A port that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Anonymous memory of a process, which is what stays when the page cache is shared. */
export const anonymousMiB = (pid: number): number => {
  const line = /^RssAnon:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1] ?? Number.NaN) / 1_024
}
