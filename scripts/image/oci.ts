/**
 * Images from scratch by buildah, in a store of their own: neither an image store of the machine nor a registry is touched. The same files, labels and date
 * give the same digests.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { tool } from "../tools.ts"

export interface Image {
  /** As OCI calls it. */
  readonly arch: string
  /** Its file system. */
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  /** Absolute, in it. */
  readonly entrypoint: string
}

export interface BuiltImage {
  readonly arch: string
  /** Of its manifest. */
  readonly digest: string
  /** Bytes of its layers, as they are pulled. */
  readonly compressed: number
}

export interface Built {
  /** Of the index: what a registry shows, and what is signed. */
  readonly digest: string
  readonly images: ReadonlyArray<BuiltImage>
}

interface Descriptor {
  readonly digest: string
  readonly size: number
  readonly platform?: { readonly architecture: string }
}

type Buildah = (...args: ReadonlyArray<string>) => Promise<string>

/** Seconds since the epoch. */
const secondsOf = (date: Date): string => String(date.getTime() / 1_000)

/** Puts the images, as one index under one tag, into an OCI archive. */
export const buildIndex = async (
  images: ReadonlyArray<Image>,
  archive: string,
  { tag, date }: { readonly tag: string; readonly date: Date }
): Promise<Built> => {
  const work = await mkdtemp(join(tmpdir(), "registrar-image-"))
  const storage = ["--storage-driver", "vfs", "--root", join(work, "storage"), "--runroot", join(work, "run")]
  const buildah: Buildah = async (...args) => (await tool("buildah", [...storage, ...args])).trim()
  try {
    await buildah("manifest", "create", "index")
    for (const image of images) {
      await commit(buildah, image, date)
      // By way of a folder, since a push of the index takes the quick compression, which costs 2 MB.
      const pushed = `oci:${join(work, image.arch)}:image`
      const compression = ["--compression-format", "gzip", "--compression-level", "9"]
      await buildah("push", "--quiet", "--format", "oci", ...compression, image.arch, pushed)
      await buildah("manifest", "add", "index", pushed)
    }
    const folder = join(work, "oci")
    await buildah("manifest", "push", "--quiet", "--all", "index", `oci:${folder}:${tag}`)
    await pack(folder, archive, date)
    return await lookInto(folder)
  } finally {
    await rm(work, { recursive: true })
  }
}

/** Leaves the image in the store, named after its architecture. */
async function commit(buildah: Buildah, { arch, root, env, labels, entrypoint }: Image, date: Date): Promise<void> {
  const container = await buildah("from", "--arch", arch, "scratch")
  await buildah("copy", "--quiet", "--chown", "0:0", container, root, "/")
  const pairs = (values: Readonly<Record<string, string>>, option: string) =>
    Object.entries(values).flatMap(([name, value]) => [option, `${name}=${value}`])
  const ofManifest = Object.fromEntries(
    Object.entries(labels).filter(([name]) => name.startsWith("org.opencontainers."))
  )
  const settings = [
    ...["--os", "linux", "--arch", arch, "--workingdir", "/", "--created-by", "npm run build:image"],
    ...["--entrypoint", JSON.stringify([entrypoint])],
    ...pairs(env, "--env"),
    // Engines show the labels, registries the annotations of the manifest.
    ...pairs(labels, "--label"),
    ...pairs(ofManifest, "--annotation")
  ]
  await buildah("config", ...settings, container)
  const same = ["--format", "oci", "--identity-label=false", "--timestamp", secondsOf(date)]
  await buildah("commit", "--quiet", "--rm", ...same, container, arch)
}

async function pack(folder: string, archive: string, date: Date): Promise<void> {
  const same = [`--mtime=@${secondsOf(date)}`, "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]
  const format = ["--format=ustar", "--mode=u=rwX,go=rX"]
  await tool("tar", [...same, ...format, "-C", folder, "-cf", archive, "oci-layout", "index.json", "blobs"])
}

async function lookInto(folder: string): Promise<Built> {
  const json = async (path: string) => JSON.parse(await readFile(join(folder, path), "utf8"))
  const blob = (digest: string) => json(`blobs/${digest.replace(":", "/")}`)
  const [index]: ReadonlyArray<Descriptor> = (await json("index.json")).manifests
  if (index === undefined) throw new Error("nothing was pushed")
  const manifests: ReadonlyArray<Descriptor> = (await blob(index.digest)).manifests
  const images = manifests.map(async ({ digest, platform }) => {
    const layers: ReadonlyArray<Descriptor> = (await blob(digest)).layers
    return { arch: platform?.architecture ?? "", digest, compressed: layers.reduce((sum, { size }) => sum + size, 0) }
  })
  return { digest: index.digest, images: await Promise.all(images) }
}
