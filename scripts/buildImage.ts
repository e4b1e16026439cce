// Builds the image: dist/image/csi-node-driver-registrar.oci.tar, an OCI archive with an index for amd64 and arm64, and beside it the digest of the index,
// and of each architecture the digest and the bill of materials. docs/releasing.md tells what is done with them.
//
// One commit gives one digest: its date is the date of everything (or SOURCE_DATE_EPOCH is), what is fetched is pinned, and the executables are made from
// equal sources alike. That of the other architecture is made under an emulator.
//
//   node scripts/buildImage.ts [--arch=x64|arm64]… [FOLDER]
import { execFileSync } from "node:child_process"
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, relative, resolve } from "node:path"
import { parseArgs } from "node:util"

import manifest from "../package.json" with { type: "json" }
import { commit } from "./build.ts"
import { buildBinary } from "./buildBinary.ts"
import { imageEnvironment } from "./image/environment.ts"
import { buildIndex, type Image } from "./image/oci.ts"
import { fillRoot, program, sbomPath } from "./image/rootfs.ts"
import { type Arch, archs, platforms, stripOf } from "./platforms.ts"
import { needTools, ScriptError, script } from "./tools.ts"

const root = resolve(import.meta.dirname, "..")
const version = `v${manifest.version}`

/** Of each architecture, as it is pulled: some room above what it is. */
const compressedLimitMB = 36

/** The first is upstream's. `source` is left out: it is whoever's publishes it. */
const labelsOf = (licenses: string, date: Date) => ({
  description: "CSI Node driver registrar",
  "org.opencontainers.image.title": manifest.name,
  "org.opencontainers.image.description": manifest.description,
  "org.opencontainers.image.version": version,
  "org.opencontainers.image.revision": commit(),
  "org.opencontainers.image.created": date.toISOString(),
  "org.opencontainers.image.base.name": "scratch",
  "org.opencontainers.image.licenses": licenses
})

/** That of the commit: later ones would tell when, and not what, was built. */
const dateOfSources = (): Date => {
  const git = () =>
    execFileSync("git", ["log", "-1", "--format=%ct"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"]
    })
  try {
    return new Date(Number(process.env.SOURCE_DATE_EPOCH || git()) * 1_000)
  } catch {
    throw new ScriptError("no commit to take the date from: set SOURCE_DATE_EPOCH, in seconds")
  }
}

const toolsFor = (wanted: ReadonlyArray<Arch>) => [
  ...["apt-get", "buildah", "dpkg-deb", "icupkg", "readelf", "strip", "tar"],
  ...wanted.filter((arch) => arch !== process.arch).flatMap((arch) => [stripOf(arch), platforms[arch].emulator])
]

/** Builds into `folder`, and says what it has built. */
export const buildImage = async (wanted: ReadonlyArray<Arch>, folder: string): Promise<void> => {
  needTools(...toolsFor(wanted))
  if (process.getuid?.() !== 0) throw new ScriptError("building the image needs root: its files belong to root")
  // Modes are part of a digest.
  process.umask(0o022)
  const date = dateOfSources()
  const work = await mkdtemp(join(tmpdir(), "registrar-roots-"))
  await mkdir(folder, { recursive: true })
  try {
    const images: Array<Image> = []
    for (const arch of wanted) {
      const { debian } = platforms[arch]
      const executable = join(work, `${debian}-executable`)
      const meta = await buildBinary(arch, executable)
      const files = join(work, debian)
      const licenses = await fillRoot(files, { arch, executable, meta, commit: commit(), date })
      images.push({
        arch: debian,
        root: files,
        env: imageEnvironment,
        labels: labelsOf(licenses, date),
        entrypoint: program
      })
    }
    const file = (name: string) => join(folder, `${manifest.name}${name}`)
    const archive = file(".oci.tar")
    const built = await buildIndex(images, archive, { tag: version, date })
    await writeFile(file(".digest"), `${built.digest}\n`)
    console.log(`${relative(process.cwd(), archive)}: ${built.digest}`)
    for (const { arch, digest, compressed } of built.images) {
      await writeFile(file(`-${arch}.digest`), `${digest}\n`)
      await copyFile(join(work, arch, sbomPath), file(`-${arch}.cdx.json`))
      const MB = compressed / 1e6
      console.log(`${arch.padEnd(6)} ${MB.toFixed(1)} MB compressed, of ${compressedLimitMB}`)
      if (MB > compressedLimitMB) throw new ScriptError(`the image for ${arch} has outgrown its limit`)
    }
  } finally {
    await rm(work, { recursive: true })
  }
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { arch: { type: "string", multiple: true } },
    allowPositionals: true
  })
  await script(async () => {
    const { arch: named = archs } = values
    for (const name of named) {
      if (!archs.some((arch) => arch === name))
        throw new ScriptError(`--arch=${name}: it is one of ${archs.join(", ")}`)
    }
    const wanted = archs.filter((arch) => named.includes(arch))
    await buildImage(wanted, resolve(positionals[0] ?? join(root, "dist/image")))
  })
}
