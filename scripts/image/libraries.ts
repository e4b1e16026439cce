/**
 * What a program needs beside itself, read from the headers of its file and of all that those name.
 *
 * Libraries that a program opens by itself are in no header. Node opens none, and glibc none since 2.34 but for character sets other than UTF-8, and for
 * sources of names other than files and DNS; test/image looks at what is mapped.
 */
import { existsSync } from "node:fs"
import { lstat, readlink } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"

import { tool } from "../tools.ts"

export interface Library {
  /** Where the loader looks for it. */
  readonly path: string
  /** The file that this stands for, after all links. */
  readonly file: string
}

/** Where Debian's loader looks without a cache, in this order. */
const foldersOf = (triplet: string) => [`/lib/${triplet}`, `/usr/lib/${triplet}`, "/lib", "/usr/lib"]

interface Headers {
  readonly interpreter: string | undefined
  readonly needed: ReadonlyArray<string>
}

const headersOf = async (file: string): Promise<Headers> => {
  const text = await tool("readelf", ["--program-headers", "--dynamic", "--wide", file], {
    env: { ...process.env, LC_ALL: "C" }
  })
  return {
    interpreter: /Requesting program interpreter: ([^\]]+)\]/.exec(text)?.[1],
    needed: [...text.matchAll(/\(NEEDED\)\s+Shared library: \[([^\]]+)\]/g)].map(([, name = ""]) => name)
  }
}

/** The file behind a path of a system that lies in `root`; its links are that system's. */
const behind = async (root: string, path: string): Promise<string> => {
  if (!(await lstat(join(root, path))).isSymbolicLink()) return path
  return behind(root, resolve(dirname(path), await readlink(join(root, path))))
}

/**
 * The loader first. `root` is where the files of the system lie; paths are absolute in it.
 *
 * @throws when a library is missing
 */
export const librariesOf = async (program: string, root: string, triplet: string): Promise<ReadonlyArray<Library>> => {
  const { interpreter, needed } = await headersOf(program)
  if (interpreter === undefined) return []
  const loader = interpreter.replace(/^.*\//, "")
  const found = new Map([[loader, { path: interpreter, file: await behind(root, interpreter) }]])
  const wanted = [...needed]
  for (let name = wanted.shift(); name !== undefined; name = wanted.shift()) {
    if (found.has(name)) continue
    const path = foldersOf(triplet)
      .map((folder) => join(folder, name))
      .find((path) => existsSync(join(root, path)))
    if (path === undefined)
      throw new Error(`${name}, which ${program} needs, is in none of ${foldersOf(triplet).join(", ")} of ${root}`)
    const file = await behind(root, path)
    found.set(name, { path, file })
    wanted.push(...(await headersOf(join(root, file))).needed)
  }
  return [...found.values()]
}
