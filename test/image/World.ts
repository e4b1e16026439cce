/** The world of a case: a folder that a container shares, a driver and a kubelet outside of it, and containers that end with the test. */
import * as fs from "node:fs"
import { join } from "node:path"

import { inject, test } from "vitest"

import { Registrar } from "../e2e/Registrar.ts"
import { CsiDriver } from "../fakes/peers/CsiDriver.ts"
import { FolderWatch } from "../fakes/peers/FolderWatch.ts"
import { RegistrationClient } from "../fakes/peers/RegistrationClient.ts"
import { Container, type Mount, type Surroundings } from "./Container.ts"
import type { UnpackedImage } from "./setup.ts"

export const driverName = "mock.csi.k8s.io"
export const socketName = `${driverName}-reg.sock`
/** As the host sees it. */
export const endpoint = "/var/lib/kubelet/plugins/mock.csi.k8s.io/csi.sock"

/** An emulated program takes seconds for what a real one does in a tenth, and more on a busy machine. */
const saysWithinMs = 60_000

export class World {
  /** Short, since socket paths are limited to 107 bytes. */
  readonly root = fs.mkdtempSync("/tmp/image-")
  /** Mounted at /csi and /registration. */
  readonly csi = join(this.root, "csi")
  readonly registry = join(this.root, "reg")
  readonly #containers: Array<Container> = []
  readonly #finalizers: Array<() => void> = []

  constructor() {
    for (const folder of [this.csi, this.registry]) fs.mkdirSync(folder)
  }

  image(arch: string): UnpackedImage {
    const image = inject("images")[arch]
    if (image === undefined) throw new Error(`the archive has no image for ${arch}`)
    return image
  }

  async driver(): Promise<CsiDriver> {
    const driver = new CsiDriver(join(this.csi, "csi.sock"), driverName)
    await driver.comes()
    this.#finalizers.push(() => driver.goes())
    return driver
  }

  watch(): FolderWatch {
    const watch = new FolderWatch(this.registry)
    this.#finalizers.push(() => watch.close())
    return watch
  }

  container(arch: string, args: ReadonlyArray<string>, surroundings: Surroundings = {}): Container {
    const container = new Container(this.root, this.image(arch), args, surroundings)
    this.#containers.push(container)
    return container
  }

  /** A container with the arguments and mounts of a pod. */
  registrar(arch: string, flags: ReadonlyArray<string> = [], { mounts = [], ...rest }: Surroundings = {}) {
    const args = ["--csi-address=/csi/csi.sock", `--kubelet-registration-path=${endpoint}`, "--v=4", ...flags]
    const shared: ReadonlyArray<Mount> = [
      { source: this.csi, destination: "/csi" },
      { source: this.registry, destination: "/registration" }
    ]
    const container = this.container(arch, args, { mounts: [...shared, ...mounts], ...rest })
    const registrar = new Registrar(container.program)
    const says = (message: string) =>
      container.program.stderr.next(message, (line) => line.includes(`] "${message}`), saysWithinMs)
    return { container, registrar, says }
  }

  /** The kubelet's connection to the registration socket. */
  kubelet(): RegistrationClient {
    return new RegistrationClient(join(this.registry, socketName))
  }

  /** What lies in the registration folder, dot-names included: nothing may be left. */
  entries(): ReadonlyArray<string> {
    return fs.readdirSync(this.registry)
  }

  logs(): string {
    return this.#containers
      .map(({ program }) => [`--- ${program.name}`, ...program.stdout.all, ...program.stderr.all].join("\n"))
      .join("\n")
  }

  async close(): Promise<void> {
    for (const container of this.#containers) {
      container.remove()
      if (container.program.running) await container.program.kill()
    }
    for (const finalize of this.#finalizers.toReversed()) finalize()
    fs.rmSync(this.root, { recursive: true })
  }
}

/** `it` with a world. */
export const it = test.extend("world", ({ onTestFailed }, { onCleanup }) => {
  const world = new World()
  onTestFailed(() => console.log(world.logs()))
  onCleanup(() => world.close())
  return world
})
