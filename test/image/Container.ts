/**
 * A container of the image, by runc and as strict as a pod can be: PID 1, read-only root, no capability, no new privileges, and two folders shared with the
 * world around it. An image of another architecture runs under an emulator, which is mounted beside it.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { archOf, native, platforms } from "../../scripts/platforms.ts"
import { Program } from "../fakes/peers/Program.ts"
import type { UnpackedImage } from "./setup.ts"

export interface Mount {
  readonly source: string
  readonly destination: string
}

export interface Surroundings {
  readonly mounts?: ReadonlyArray<Mount>
  readonly uid?: number
  /** More of them, as NAME=value. */
  readonly env?: ReadonlyArray<string>
  /** In the network of the host, as pods with `hostNetwork: true`. */
  readonly hostNetwork?: boolean
}

interface Spec {
  readonly process: object
  readonly mounts: ReadonlyArray<{ readonly type: string }>
  readonly linux: { readonly namespaces: ReadonlyArray<{ readonly type: string }> }
}

let count = 0

/** The words before a program of the image, and what has to be mounted for them. */
const emulation = ({ config: { architecture } }: UnpackedImage): { before: Array<string>; mounts: Array<Mount> } => {
  const arch = archOf(architecture)
  if (arch === undefined || architecture === native) return { before: [], mounts: [] }
  const { emulator } = platforms[arch]
  const file = execFileSync("sh", ["-c", 'command -v "$0"', emulator], { encoding: "utf8" }).trim()
  return { before: ["/emulator"], mounts: [{ source: file, destination: "/emulator" }] }
}

export class Container {
  readonly program: Program
  readonly #id: string
  readonly #state: string
  readonly #before: ReadonlyArray<string>

  /** `folder` is for runc's files, and not seen inside. */
  constructor(folder: string, image: UnpackedImage, args: ReadonlyArray<string>, surroundings: Surroundings = {}) {
    const { mounts = [], uid = 0, env = [], hostNetwork = false } = surroundings
    this.#id = `registrar-${process.pid}-${count++}`
    this.#state = join(folder, "runc")
    const bundle = join(folder, this.#id)
    mkdirSync(bundle)
    execFileSync("runc", ["spec", "--bundle", bundle])
    const file = join(bundle, "config.json")
    const spec: Spec = JSON.parse(readFileSync(file, "utf8"))
    const { before, mounts: forEmulator } = emulation(image)
    this.#before = before
    const { Env, Entrypoint, WorkingDir } = image.config.config
    const strict = {
      ...spec,
      root: { path: image.root, readonly: true },
      process: {
        ...spec.process,
        terminal: false,
        user: { uid, gid: uid },
        args: [...before, ...Entrypoint, ...args],
        env: [...Env, ...env],
        cwd: WorkingDir,
        capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
        noNewPrivileges: true
      },
      mounts: [
        // Not every machine has cgroups that can be mounted once more; nobody needs them inside.
        ...spec.mounts.filter(({ type }) => type !== "cgroup"),
        ...[...mounts, ...forEmulator].map((mount) => ({ ...mount, type: "bind", options: ["rbind", "rw"] }))
      ],
      linux: {
        ...spec.linux,
        namespaces: spec.linux.namespaces.filter(({ type }) => !hostNetwork || type !== "network")
      }
    }
    writeFileSync(file, JSON.stringify(strict))
    this.program = new Program(this.#id, [...this.#runc, "run", "--bundle", bundle, this.#id])
  }

  /** The process inside, as this machine counts. */
  get pid(): number {
    return JSON.parse(execFileSync("runc", [...this.#runc.slice(1), "state", this.#id], { encoding: "utf8" })).pid
  }

  /** A second process in it, as an exec probe is one. */
  exec(command: ReadonlyArray<string>): Program {
    return new Program(`exec in ${this.#id}`, [...this.#runc, "exec", this.#id, ...this.#before, ...command])
  }

  /** Kills what still runs, and takes away what runc keeps of it. */
  remove(): void {
    if (existsSync(join(this.#state, this.#id)))
      execFileSync("runc", [...this.#runc.slice(1), "delete", "--force", this.#id])
  }

  get #runc(): ReadonlyArray<string> {
    return ["runc", "--root", this.#state]
  }
}
