// The system libraries of the image: Debian's packages, pinned in debian.json by version and digest.
//
// apt finds and checks them by the sources of this machine, with lists of its own, so that neither the machine's architectures nor its state matter. Debian
// keeps the newest version of a package only, and a newer one here is nearly always a security fix: the pins have to follow. For the image of an
// older release, point apt at Debian's snapshot archive.
//
//   node scripts/image/debian.ts    pins the versions that Debian has now, and says which are new
import { createHash } from "node:crypto"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { cached } from "../cache.ts"
import { type Arch, archs, platforms } from "../platforms.ts"
import { ScriptError, script, tool } from "../tools.ts"
import pins from "./debian.json" with { type: "json" }

const pinsFile = join(import.meta.dirname, "debian.json")

/** The release of Debian whose packages these are. */
export const debianRelease = "12"

/** The libraries that node asks for, and gcc-12-base, which has the copyright notes of two of them. */
const names = ["gcc-12-base", "libc6", "libgcc-s1", "libstdc++6"]

/** Expressions of SPDX, as their copyright notes say it in words. */
const licenses: Readonly<Record<string, string>> = {
  libc6: "LGPL-2.1-or-later",
  "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
  "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1"
}

export interface Pin {
  readonly version: string
  readonly sha256: string
}
type Pins = Readonly<Record<string, Pin>>

export const pinsOf = (arch: Arch): Pins => pins[platforms[arch].debian]

export interface DebianFiles {
  /** All files of the packages, as they lie on a Debian machine. */
  readonly root: string
  /** What each package says of itself, in a file of its name. */
  readonly control: string
  /** The files of each package, absolute, a line each, in a file of its name. */
  readonly contents: string
}

/** Part of the name under which they are kept; to be raised when something is put elsewhere. */
const layout = 1

/** @throws {ScriptError} when Debian has other versions now */
export const debianFiles = async (arch: Arch): Promise<DebianFiles> => {
  const wanted = pinsOf(arch)
  const key = digest(JSON.stringify([layout, wanted])).slice(0, 16)
  const folder = await cached(`debian-${platforms[arch].debian}-${key}`, async (unfinished) => {
    const { root, control, contents } = partsOf(unfinished)
    for (const part of [root, control, contents]) await mkdir(part)
    const versions = Object.entries(wanted).map(([name, { version }]) => `${name}=${version}`)
    for (const archive of await download(arch, unfinished, versions)) {
      const name = await fieldOf(archive, "Package")
      if (digest(await readFile(archive)) !== wanted[name]?.sha256) {
        throw new ScriptError(`${archive} is not what ${pinsFile} expects`)
      }
      const listed = await tool("dpkg-deb", ["--vextract", archive, root])
      const files = [...listed.matchAll(/^\.(\/.*[^/])$/gm)].map(([, file]) => file)
      await writeFile(join(contents, name), files.join("\n"))
      await writeFile(join(control, name), await tool("dpkg-deb", ["--field", archive]))
      await rm(archive)
    }
  })
  return partsOf(folder)
}

export interface DebianPackage {
  readonly name: string
  readonly version: string
  /** The package of sources that it is built from. */
  readonly source: string
  /** An expression of SPDX. */
  readonly license: string
}

/** The packages that these files come from, each once. */
export const packagesOf = async (
  files: ReadonlyArray<string>,
  { control, contents }: DebianFiles
): Promise<ReadonlyArray<DebianPackage>> => {
  const found: Array<DebianPackage> = []
  const unknown = new Set(files)
  for (const name of (await readdir(contents)).sort()) {
    const theirs = new Set((await readFile(join(contents, name), "utf8")).split("\n"))
    if (![...unknown].some((file) => theirs.has(file))) continue
    for (const file of theirs) unknown.delete(file)
    const fields = await readFile(join(control, name), "utf8")
    const field = (key: string) => new RegExp(`^${key}: (\\S+)`, "m").exec(fields)?.[1]
    const license = licenses[name]
    if (license === undefined) throw new ScriptError(`the licence of ${name} has to be told in scripts/image/debian.ts`)
    found.push({ name, version: field("Version") ?? "", source: field("Source") ?? name, license })
  }
  if (unknown.size > 0) throw new Error(`of no package: ${[...unknown].join(", ")}`)
  return found
}

function partsOf(folder: string): DebianFiles {
  return { root: join(folder, "root"), control: join(folder, "control"), contents: join(folder, "contents") }
}

/** Resolves with an archive for each of `wanted`, which are names with or without a version. */
async function download(arch: Arch, folder: string, wanted: ReadonlyArray<string>): Promise<ReadonlyArray<string>> {
  const { debian } = platforms[arch]
  const state = await mkdtemp(join(tmpdir(), "registrar-apt-"))
  try {
    for (const part of ["lists/partial", "cache/archives/partial"]) await mkdir(join(state, part), { recursive: true })
    const settings = [
      `APT::Architecture=${debian}`,
      `APT::Architectures=${debian}`,
      `Dir::State::lists=${state}/lists`,
      "Dir::State::status=/dev/null",
      `Dir::Cache=${state}/cache`,
      "Acquire::Languages=none",
      "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
      // apt's own user cannot write to a folder of ours.
      "APT::Sandbox::User="
    ].flatMap((setting) => ["-o", setting])
    await tool("apt-get", ["--quiet", ...settings, "update"])
    await tool("apt-get", ["--quiet", ...settings, "download", ...wanted], { cwd: folder })
    return (await readdir(folder)).filter((name) => name.endsWith(".deb")).map((name) => join(folder, name))
  } catch (cause) {
    if (cause instanceof ScriptError) throw cause
    throw new ScriptError(
      `${wanted.join(", ")} for ${debian} cannot be had by apt's sources, which should be those of Debian ${debianRelease}, ` +
        "or its snapshot archive for an older release. When Debian has newer ones: node scripts/image/debian.ts",
      { cause }
    )
  } finally {
    await rm(state, { recursive: true })
  }
}

const fieldOf = async (archive: string, field: string): Promise<string> =>
  (await tool("dpkg-deb", ["--field", archive, field])).trim()

function digest(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex")
}

if (import.meta.main) {
  await script(async () => {
    const found: Record<string, Record<string, Pin>> = {}
    for (const arch of archs) {
      const { debian } = platforms[arch]
      const now: Record<string, Pin> = {}
      const folder = await mkdtemp(join(tmpdir(), "registrar-pins-"))
      for (const archive of await download(arch, folder, names)) {
        const [name, version] = [await fieldOf(archive, "Package"), await fieldOf(archive, "Version")]
        now[name] = { version, sha256: digest(await readFile(archive)) }
        const before = pinsOf(arch)[name]?.version
        if (version !== before) console.log(`${name} ${debian}: ${before ?? "none"} → ${version}`)
      }
      await rm(folder, { recursive: true })
      found[debian] = Object.fromEntries(names.map((name) => [name, now[name]!]))
    }
    await writeFile(pinsFile, `${JSON.stringify(found, null, 2)}\n`)
  })
}
