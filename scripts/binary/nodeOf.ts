/**
 * The node that package.json pins, of either machine. npm has installed that of this one; the other's package is fetched once, and has to be the one that
 * package-lock.json knows.
 */
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { mkdir, readFile, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"

import { cached } from "../cache.ts"
import type { Arch } from "../platforms.ts"
import { ScriptError, tool } from "../tools.ts"

const root = resolve(import.meta.dirname, "../..")
const { resolve: find } = createRequire(import.meta.url)

/** A package of npm, as package-lock.json has it. */
export interface Locked {
  readonly name: string
  readonly version: string
  /** Algorithm and digest, as in `sha512-…` with base64. */
  readonly integrity: string
}

export interface Node {
  readonly file: string
  /** Its own, and those of all that it is made of. */
  readonly license: string
  /** The package that it comes from. */
  readonly locked: Locked
}

/** @throws when what the registry gives is not what the lock expects */
export const nodeOf = async (arch: Arch): Promise<Node> => {
  const locked = await lockedAs(`node-linux-${arch}`)
  const folder = arch === process.arch ? dirname(find(`${locked.name}/package.json`)) : await fetched(locked)
  return { file: join(folder, "bin/node"), license: join(folder, "LICENSE"), locked }
}

async function lockedAs(name: string): Promise<Locked> {
  const lock: { readonly packages: Readonly<Record<string, Omit<Locked, "name">>> } = JSON.parse(
    await readFile(join(root, "package-lock.json"), "utf8")
  )
  const locked = lock.packages[`node_modules/${name}`]
  if (locked === undefined) throw new ScriptError(`package-lock.json has lost ${name}; npm install brings it back`)
  return { name, version: locked.version, integrity: locked.integrity }
}

async function fetched({ name, version, integrity }: Locked): Promise<string> {
  return cached(`${name}-${version}`, async (unfinished) => {
    const packed = join(unfinished, "packed")
    await mkdir(packed)
    await tool("npm", ["pack", "--silent", "--pack-destination", packed, `${name}@${version}`])
    const archive = join(packed, `${name}-${version}.tgz`)
    const [algorithm = ""] = integrity.split("-", 1)
    const found = createHash(algorithm)
      .update(await readFile(archive))
      .digest("base64")
    if (`${algorithm}-${found}` !== integrity) {
      throw new ScriptError(`${name}@${version} is not what package-lock.json expects: ${algorithm}-${found}`)
    }
    await tool("tar", ["-xzf", archive, "-C", unfinished, "--strip-components=1", "--no-same-owner"])
    await rm(packed, { recursive: true })
    if (!existsSync(join(unfinished, "bin/node"))) throw new ScriptError(`${name}@${version} holds no bin/node`)
  })
}
