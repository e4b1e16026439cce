/**
 * The world of a case: a folder of its own, the built registrar as a child process, and around it a driver and a kubelet inside the test, all on
 * real sockets.
 *
 * The registrar is `dist/main.cjs`, or the command that `REGISTRAR_BINARY` names. A world ends with its test, passed or failed: whatever still
 * runs is killed by its pid, whatever listens is closed, the folder is removed. Worlds share nothing.
 */
import * as fs from "node:fs"
import type * as net from "node:net"
import { join, resolve } from "node:path"

import { test } from "vitest"

import { CsiDriver } from "../fakes/peers/CsiDriver.ts"
import { FolderWatch } from "../fakes/peers/FolderWatch.ts"
import { putDeadSocket, putLiveSocket } from "../fakes/peers/sockets.ts"
import { Program } from "../fakes/peers/Program.ts"
import { RegistrationClient } from "../fakes/peers/RegistrationClient.ts"
import { Registrar, said } from "./Registrar.ts"

export const driverName = "mock.csi.k8s.io"
export const socketName = `${driverName}-reg.sock`
/** Told to the kubelet byte for byte; nobody opens it here. */
export const endpoint = "/var/lib/kubelet/plugins/mock.csi.k8s.io/csi.sock"

/**
 * How soon whatever can be done at once has to be done. The promise is 100 ms, which `npm run bench` holds it to; the rest is for a machine that others use, and
 * well below what would wait for a timer by mistake.
 */
export const promptMs = 250

const bundle = resolve(import.meta.dirname, "../../dist/main.cjs")

export const underTest = (): ReadonlyArray<string> => {
  const named = process.env.REGISTRAR_BINARY
  if (named !== undefined) return named.split(" ")
  if (!fs.existsSync(bundle)) throw new Error(`${bundle} does not exist; build it with: node scripts/build.ts`)
  return [process.execPath, bundle]
}

/** Of several words it is node with the bundle, which can be made to load a file first. The binary can not, and its run says so of these cases. */
export const preloads = underTest().length > 1
export const bundleOnly = preloads ? "" : " (left out: the binary preloads nothing)"

export class World {
  /** Short, since socket paths are limited to 107 bytes. */
  readonly root = fs.mkdtempSync("/tmp/e2e-")
  /** The folder that a kubelet would watch. */
  readonly registry = join(this.root, "reg")
  /** Where the registration socket belongs. */
  readonly socket = join(this.registry, socketName)
  /** A command that starts the registrars from now on, such as `setpriv`. */
  wrapper: ReadonlyArray<string> = []
  readonly #registrars: Array<Registrar> = []
  readonly #finalizers: Array<() => void> = []
  #bound = 0

  constructor() {
    fs.mkdirSync(this.registry)
  }

  /** A driver that is not there yet. Its address is what registrars are started with. */
  absentDriver(name = driverName, address = join(this.root, "csi.sock")): CsiDriver {
    const driver = new CsiDriver(address, name)
    this.#finalizers.push(() => driver.goes())
    return driver
  }

  async driver(name = driverName): Promise<CsiDriver> {
    const driver = this.absentDriver(name)
    await driver.comes()
    return driver
  }

  /** Of two equal flags the last wins, so a case can replace those that every registrar has. */
  registrar(...flags: ReadonlyArray<string>): Registrar {
    const program = new Program("registrar", [
      ...this.wrapper,
      ...underTest(),
      `--csi-address=${join(this.root, "csi.sock")}`,
      `--kubelet-registration-path=${endpoint}`,
      `--plugin-registration-path=${this.registry}`,
      "--v=4",
      ...flags
    ])
    const registrar = new Registrar(program)
    this.#registrars.push(registrar)
    return registrar
  }

  /** A registrar whose socket is in place. */
  async announced(...flags: ReadonlyArray<string>): Promise<Registrar> {
    const registrar = this.registrar(...flags)
    await registrar.says(said.started)
    return registrar
  }

  /** A registrar that the kubelet has said yes to. */
  async registered(...flags: ReadonlyArray<string>): Promise<Registrar> {
    const registrar = await this.announced(...flags)
    await this.accepts(registrar)
    return registrar
  }

  /** The kubelet's connection to a registration socket. */
  kubelet(socket = this.socket): RegistrationClient {
    return new RegistrationClient(socket)
  }

  /** The kubelet asks, and says yes. */
  async accepts(registrar: Registrar): Promise<void> {
    const kubelet = this.kubelet()
    await kubelet.getInfo()
    await kubelet.notify(true)
    kubelet.close()
    await registrar.says(said.registered)
  }

  /** The kubelet asks, and says no. */
  async refuses(registrar: Registrar, text: string): Promise<void> {
    const kubelet = this.kubelet()
    await kubelet.getInfo()
    await kubelet.notify(false, text)
    kubelet.close()
    await registrar.says(said.refused)
  }

  watch(folder = this.registry): FolderWatch {
    const watch = new FolderWatch(folder)
    this.#finalizers.push(() => watch.close())
    return watch
  }

  /** Puts the live socket of somebody else at the path. */
  async rival(at = this.socket): Promise<net.Server> {
    const server = await putLiveSocket(at, this.#aside())
    this.#finalizers.push(() => server.close())
    return server
  }

  deadSocket(at = this.socket): Promise<void> {
    return putDeadSocket(at, this.#aside())
  }

  /** What lies in the registration folder, dot-names included: nothing may be left. */
  entries(folder = this.registry): ReadonlyArray<string> {
    return fs.readdirSync(folder).sort()
  }

  /** What a kubelet looks at of it. */
  visible(folder = this.registry): ReadonlyArray<string> {
    return this.entries(folder).filter((name) => !name.startsWith("."))
  }

  logs(): string {
    return this.#registrars.map(({ program, lines }) => [`--- ${program.pid}`, ...lines].join("\n")).join("\n")
  }

  async close(): Promise<void> {
    await Promise.all(this.#registrars.map(({ program }) => (program.running ? program.kill() : undefined)))
    for (const finalize of this.#finalizers.toReversed()) finalize()
    fs.rmSync(this.root, { recursive: true })
  }

  /** A path on the same file system, for a socket that is to be renamed. */
  #aside(): string {
    return join(this.root, `bound-${this.#bound++}`)
  }
}

/** `it` with a world. */
export const it = test.extend("world", ({ onTestFailed }, { onCleanup }) => {
  const world = new World()
  onTestFailed(() => console.log(world.logs()))
  onCleanup(() => world.close())
  return world
})
