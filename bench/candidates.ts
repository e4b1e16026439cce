/** What is measured: the shipped executable, an executable with an empty main, and any other registrar. */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, relative, resolve } from "node:path"

import { buildEmpty } from "../scripts/buildBinary.ts"
import { imageEnvironment } from "../scripts/image/environment.ts"
import type { Arch } from "../scripts/platforms.ts"
import { ScriptError } from "../scripts/tools.ts"
import { atEnd } from "./atEnd.ts"
import type { Command } from "./Process.ts"

export type Kind = "empty" | "ours" | "peer"

export interface Candidate {
  readonly kind: Kind
  /** Names its column. */
  readonly name: string
  readonly command: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
}

/** As scripts/buildBinary.ts gives them to the executables. */
const nodeFlags = ["--max-semi-space-size=1", "--v8-pool-size=0", "--disable-sigusr1"]

const shipped = resolve(import.meta.dirname, "../dist/csi-node-driver-registrar")

export const commandOf = ({ command, environment }: Candidate, ...args: ReadonlyArray<string>): Command => {
  const [file = "", ...before] = command
  return { file, args: [...before, ...args], environment }
}

export const ours = (): Candidate => {
  if (!existsSync(shipped)) {
    throw new ScriptError(`${relative(process.cwd(), shipped)} does not exist; build it with: npm run build:binary`)
  }
  return { kind: "ours", name: "ours", command: [shipped], environment: imageEnvironment }
}

/** Built anew, as the shipped one is. */
export const empty = async (): Promise<Candidate> => {
  const folder = mkdtempSync(join(tmpdir(), "bench-empty-"))
  atEnd(() => rmSync(folder, { recursive: true }))
  const file = join(folder, "empty")
  await buildEmpty(process.arch as Arch, file)
  return { kind: "empty", name: "empty", command: [file], environment: imageEnvironment }
}

/** A server that answers each request with "ok", on the port that is its argument: what the empty program is where something must serve. */
export const emptyServer: Candidate = {
  kind: "empty",
  name: "empty",
  command: [process.execPath, ...nodeFlags, join(import.meta.dirname, "emptyServer.cjs")],
  environment: imageEnvironment
}

/** Other registrars by the paths of their executables, named after these; they get no environment at all. */
export const peers = (paths: ReadonlyArray<string>): ReadonlyArray<Candidate> =>
  paths.map((path, index) => {
    const file = resolve(path)
    if (!existsSync(file)) throw new ScriptError(`--peer ${path}: does not exist`)
    const sameBefore = paths.slice(0, index).filter((other) => basename(other) === basename(path)).length
    const name = sameBefore === 0 ? basename(path) : `${basename(path)} (${sameBefore + 1})`
    return { kind: "peer", name, command: [file], environment: {} }
  })
