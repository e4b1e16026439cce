/** The packages of npm whose code is in the bundle. */
import { readFile } from "node:fs/promises"
import { join, resolve } from "node:path"

import type { Meta } from "../build.ts"

const root = resolve(import.meta.dirname, "../..")

export interface BundledPackage {
  readonly name: string
  readonly version: string
  /** An expression of SPDX. */
  readonly license: string
  readonly folder: string
}

/** The folder of the package that a module of the bundle comes from; undefined for what is ours. */
const folderOf = (module: string): string | undefined =>
  module.startsWith("rolldown/")
    ? "node_modules/rolldown"
    : /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module)?.[0]

/** Each once, by name. */
export const bundledPackages = async ({ modules }: Pick<Meta, "modules">): Promise<ReadonlyArray<BundledPackage>> => {
  const folders = new Set(modules.map(({ name }) => folderOf(name)).filter((folder) => folder !== undefined))
  const found = await Promise.all(
    [...folders].map(async (relative) => {
      const folder = join(root, relative)
      const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"))
      return { name, version, license, folder }
    })
  )
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}
