/**
 * The file system of an image:
 *
 *   /csi-node-driver-registrar            the executable
 *   /lib, /lib64, /usr/lib                the libraries that it needs, where the loader looks
 *   /etc/os-release, /var/lib/dpkg        whose libraries these are: vulnerability scanners look there, as in distroless images
 *   /usr/share/sbom                       the bill of materials, under a name that scanners know
 *   /licenses                             of all that is in it
 *
 * Of names, glibc asks /etc/hosts and then DNS where there is no /etc/nsswitch.conf, as Go does; the kubelet mounts the files for that.
 */
import { chmod, copyFile, mkdir, readdir, writeFile } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"

import manifest from "../../package.json" with { type: "json" }
import { nodeOf } from "../binary/nodeOf.ts"
import { runner } from "../buildBinary.ts"
import type { Meta } from "../build.ts"
import { type Arch, platforms } from "../platforms.ts"
import { ScriptError, tool } from "../tools.ts"
import { type BundledPackage, bundledPackages } from "./bundled.ts"
import { debianFiles, debianRelease, packagesOf } from "./debian.ts"
import { librariesOf } from "./libraries.ts"
import { licenseOf, sbomOf } from "./sbom.ts"

const root = resolve(import.meta.dirname, "../..")

export const program = `/${manifest.name}`
export const sbomPath = `/usr/share/sbom/${manifest.name}.cdx.json`

const osRelease = `NAME="Debian GNU/Linux"
ID=debian
VERSION_ID="${debianRelease}"
PRETTY_NAME="${manifest.name}, on libraries of Debian ${debianRelease}"
`

export interface Source {
  readonly arch: Arch
  /** The executable, and what went into it. */
  readonly executable: string
  readonly meta: Meta
  readonly commit: string
  readonly date: Date
}

/** Fills an empty folder. Resolves with the licences of all that is in it, as one expression of SPDX. */
export const fillRoot = async (folder: string, { arch, executable, meta, commit, date }: Source): Promise<string> => {
  const { triplet, debian } = platforms[arch]
  const put = async (path: string, content: string | { readonly from: string }, mode = 0o644) => {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    if (typeof content === "string") await writeFile(file, content)
    else await copyFile(content.from, file)
    await chmod(file, mode)
  }

  const system = await debianFiles(arch)
  const libraries = await librariesOf(executable, system.root, triplet)
  const packages = await packagesOf(
    libraries.map(({ file }) => file),
    system
  )
  const bundled = await bundledPackages(meta)
  const node = await nodeOf(arch)
  const materials = {
    arch: debian,
    commit,
    date,
    bundled,
    versions: await versionsOf(arch, node.file),
    nodePackage: node.locked,
    debian: packages
  }

  await put(program, { from: executable }, 0o755)
  for (const { path, file } of libraries) await put(path, { from: join(system.root, file) }, 0o755)
  await put("/etc/os-release", osRelease)
  for (const { name } of packages) await put(`/var/lib/dpkg/status.d/${name}`, { from: join(system.control, name) })
  await put(sbomPath, sbomOf(materials))

  await put(`/licenses/${manifest.name}/LICENSE`, { from: join(root, "LICENSE") })
  await put("/licenses/node/LICENSE", { from: node.license })
  for (const each of bundled) await put(`/licenses/${each.name}/LICENSE`, { from: await licenseFileOf(each) })
  for (const { name } of packages) {
    await put(`/licenses/${name}/copyright`, { from: join(system.root, "usr/share/doc", name, "copyright") })
  }
  const sources = new Set(packages.map(({ source, version }) => `apt-get source ${source}=${version}`))
  await put(
    "/licenses/SOURCES",
    `Of the libraries under the LGPL and the GPL, unchanged, from Debian:\n\n${[...sources].join("\n")}\n`
  )
  const texts = join(import.meta.dirname, "licenses")
  for (const name of await readdir(texts)) await put(`/licenses/${name}`, { from: join(texts, name) })
  return licenseOf(materials)
}

/** `process.versions`, as it says it itself. */
async function versionsOf(arch: Arch, node: string): Promise<Readonly<Record<string, string>>> {
  const [file = "", ...args] = [...(await runner(arch)), node, "--print", "JSON.stringify(process.versions)"]
  return JSON.parse(await tool(file, args, { env: {} }))
}

async function licenseFileOf({ name, folder }: BundledPackage): Promise<string> {
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(basename(each)))
  if (file === undefined) throw new ScriptError(`${name} has no licence text, and may not go into the image without`)
  return join(folder, file)
}
