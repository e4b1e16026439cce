/**
 * The world of a case: a kubelet root of its own, and the programs around it: kubelet, CSI drivers, registrars.
 *
 * The registrar under test is the built bundle, `dist/main.cjs`, or the command that `REGISTRAR_BINARY` names. A world ends
 * with its test: whatever still runs gets SIGTERM and has to obey, in reverse order of the start, and the root is removed.
 * Worlds share nothing, so test files can run side by side.
 */
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import { join, resolve } from "node:path"

import { onTestFailed, onTestFinished } from "vitest"

import { builtPeers, type Peers } from "./build.ts"
import { Kubelet } from "./Kubelet.ts"
import { Program } from "../fakes/peers/Program.ts"

export const defaultDriver = "mock.csi.k8s.io"

/** The lines of a registrar's log that cases wait for; the same in every registrar. */
const lines = {
  started: `"Registration Server started"`,
  notified: `"Received NotifyRegistrationStatus call"`
}

export class Registrar {
  readonly program: Program
  /** Where its registration socket is. */
  readonly socket: string

  constructor(program: Program, socket: string) {
    this.program = program
    this.socket = socket
  }

  /** The next time its socket is said to be in place. */
  serving = () => this.program.stderr.next(lines.started, (line) => line.includes(lines.started))

  /** The next time that the kubelet tells it yes. */
  accepted = () =>
    this.program.stderr.next(
      "the kubelet's yes",
      (line) => line.includes(lines.notified) && line.includes("plugin_registered:true")
    )

  /** The next time that the kubelet tells it no. */
  refused = () =>
    this.program.stderr.next(
      "the kubelet's no",
      (line) => line.includes(lines.notified) && !line.includes("plugin_registered:true")
    )
}

export interface Driver {
  readonly name: string
  /** Path of its socket: `--csi-address`, and the endpoint that the kubelet is told. */
  readonly address: string
  readonly program: Program
}

const underTest = (): Array<string> => {
  const named = process.env.REGISTRAR_BINARY
  if (named !== undefined) {
    return named.split(" ")
  }
  const bundle = resolve(import.meta.dirname, "../../dist/main.cjs")
  if (!existsSync(bundle)) {
    throw new Error(`${bundle} does not exist; build it with: node scripts/build.ts`)
  }
  return [process.execPath, bundle]
}

export class World {
  readonly root: string
  /** The folder that the kubelet watches. */
  readonly registry: string
  readonly #peers: Peers
  readonly #programs: Array<Program> = []

  private constructor(root: string, peers: Peers) {
    this.root = root
    this.registry = join(root, "plugins_registry")
    this.#peers = peers
  }

  /** Opens a world that ends with the test that calls this. */
  static async open(): Promise<World> {
    const peers = builtPeers()
    // Exactly as long as /var/lib/kubelet, so that the limits of socket paths are those of a usual node.
    const world = new World(await mkdtemp("/tmp/kube-"), peers)
    onTestFinished(() => world.close())
    onTestFailed(() => console.log(world.logs()))
    await mkdir(world.registry)
    return world
  }

  async kubelet(...flags: Array<string>): Promise<Kubelet> {
    const kubelet = new Kubelet(this.start("kubelet", [this.#peers.kubelet, `-root=${this.root}`, "-v=2", ...flags]))
    await kubelet.next("kubelet.started")
    return kubelet
  }

  /** A driver that answers; a second one of the same name takes the place of one that has ended. */
  async driver(name = defaultDriver): Promise<Driver> {
    const address = join(this.root, "plugins", name, "csi.sock")
    await mkdir(join(this.root, "plugins", name), { recursive: true })
    const program = this.start(`driver ${name}`, [this.#peers.driver, `-name=${name}`, `-address=${address}`])
    await program.stdout.next("driver.listening", (line) => line.includes("driver.listening"))
    return { name, address, program }
  }

  registrar(driver: Driver, ...flags: Array<string>): Registrar {
    return this.#registrar("registrar", underTest(), driver, flags)
  }

  plainRegistrar(driver: Driver): Registrar {
    return this.#registrar("plain registrar", [this.#peers.plainRegistrar], driver, [])
  }

  oldKubelet(registrar: Registrar, ...flags: Array<string>): Program {
    return this.start("old kubelet", [this.#peers.oldKubelet, `-socket=${registrar.socket}`, ...flags])
  }

  start(name: string, command: ReadonlyArray<string>): Program {
    const program = new Program(name, command)
    this.#programs.push(program)
    return program
  }

  /** What lies in the registry folder, dot-files included. */
  async entries(): Promise<Array<string>> {
    return (await readdir(this.registry)).sort()
  }

  logs(): string {
    return this.#programs
      .map(({ name, pid, stdout, stderr }) => [`--- ${name} (${pid})`, ...stdout.all, ...stderr.all].join("\n"))
      .join("\n")
  }

  #registrar(name: string, command: Array<string>, driver: Driver, flags: Array<string>): Registrar {
    // The last of two equal flags wins, so a case can replace these.
    const all = [
      `--csi-address=${driver.address}`,
      `--kubelet-registration-path=${driver.address}`,
      `--plugin-registration-path=${this.registry}`,
      "--v=5",
      ...flags
    ]
    const folder = all.findLast((flag) => flag.startsWith("--plugin-registration-path="))?.split("=")[1] ?? ""
    return new Registrar(this.start(name, [...command, ...all]), join(folder, `${driver.name}-reg.sock`))
  }

  async close(): Promise<void> {
    const faults: Array<unknown> = []
    for (const program of this.#programs.toReversed()) {
      if (program.running) {
        // A driver that a case has stopped in its tracks must be able to end.
        program.signal("SIGCONT")
        await program.stop().catch((fault) => faults.push(fault))
      }
    }
    await rm(this.root, { recursive: true })
    if (faults.length > 0) {
      throw new AggregateError(faults, "programs did not end")
    }
  }
}

/** Identity of what lies at the path, and since when: a rename into place and a bind both move the change time. */
export const inode = async (path: string) => {
  const { dev, ino, ctimeMs } = await stat(path)
  return { id: `${dev}:${ino}`, sinceMs: ctimeMs }
}

/** A TCP port that was free a moment ago. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
