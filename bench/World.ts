/** A driver that is there, a kubelet that calls at once, and the bundle between them, as a process with a clean environment. */
import { type ChildProcess, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

import * as grpc from "@grpc/grpc-js"

import { CsiDriver } from "../test/fakes/peers/CsiDriver.ts"
import { Registration } from "../test/fakes/protos.ts"

const driverName = "bench.example.com"
const bundle = path.resolve(import.meta.dirname, "../dist/main.cjs")

type Call = (request: object, done: (error: Error | null) => void) => void

/** GetInfo, then a verdict: what a kubelet does on one connection. */
const registerAt = (socketPath: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const client = new Registration(`unix:${socketPath}`, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1
    })
    const { GetInfo, NotifyRegistrationStatus } = client as unknown as Record<string, Call>
    const finish = (error: Error | null) => {
      client.close()
      if (error === null) resolve()
      else reject(error)
    }
    GetInfo?.call(client, {}, (error) => {
      if (error !== null) finish(error)
      else NotifyRegistrationStatus?.call(client, { plugin_registered: true }, finish)
    })
  })

export class World {
  readonly root = fs.mkdtempSync(path.join(os.tmpdir(), "bench-"))
  readonly folder = path.join(this.root, "registry")
  readonly socket = path.join(this.folder, `${driverName}-reg.sock`)
  readonly driver = new CsiDriver(path.join(this.root, "csi.sock"), driverName)
  readonly #watcher: fs.FSWatcher
  #placed: () => void = () => {}
  #child: ChildProcess | undefined

  constructor() {
    fs.mkdirSync(this.folder)
    this.#watcher = fs.watch(this.folder, (_, name) => {
      if (name === path.basename(this.socket) && fs.existsSync(this.socket)) this.#placed()
    })
  }

  get pid(): number {
    return this.#child?.pid ?? Number.NaN
  }

  /** The next time our socket appears in the folder. */
  placed(): Promise<void> {
    return new Promise((resolve) => {
      this.#placed = resolve
    })
  }

  start(): void {
    const args = [
      bundle,
      `--csi-address=${this.driver.address}`,
      `--kubelet-registration-path=${this.driver.address}`,
      `--plugin-registration-path=${this.folder}`
    ]
    this.#child = spawn(process.execPath, args, { stdio: "ignore", env: {} })
  }

  /** Ends once the registrar has been told that it is registered. */
  async registered(): Promise<void> {
    await this.placed()
    await registerAt(this.socket)
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    const gone = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGTERM")
    await gone
    this.#child = undefined
  }

  async close(): Promise<void> {
    await this.stop()
    this.driver.goes()
    this.#watcher.close()
    fs.rmSync(this.root, { recursive: true, force: true })
  }
}

/** Anonymous memory of a process in MiB, which is what stays when the page cache is shared. */
export const anonymousMiB = (pid: number): number => {
  const line = /^RssAnon:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1] ?? Number.NaN) / 1024
}
