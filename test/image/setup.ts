/** Vitest's `globalSetup`: says what is missing, and unpacks the image under test once, `dist/image/…` or the archive that `REGISTRAR_IMAGE` names. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"

import type { TestProject } from "vitest/node"

import { archs, platforms } from "../../scripts/platforms.ts"
import { needTools, ScriptError } from "../../scripts/tools.ts"

const built = resolve(import.meta.dirname, "../../dist/image/csi-node-driver-registrar.oci.tar")

/** What the configuration of an image says of how it is run. */
export interface Config {
  readonly created: string
  readonly architecture: string
  readonly config: Readonly<Record<string, unknown>> & {
    readonly Env: ReadonlyArray<string>
    readonly Entrypoint: ReadonlyArray<string>
    readonly Labels: Readonly<Record<string, string>>
    readonly WorkingDir: string
  }
}

export interface UnpackedImage {
  readonly config: Config
  /** Its file system, where containers leave nothing but the places of their mounts. */
  readonly root: string
  /** Lines of `tar --list --verbose`, as its layers came. */
  readonly listed: ReadonlyArray<string>
}

/** The files of an image, absolute. */
export const filesOf = ({ listed }: UnpackedImage): ReadonlyArray<string> =>
  listed.filter((line) => line.startsWith("-")).map((line) => `/${/\S+$/.exec(line)?.[0]}`)

declare module "vitest" {
  export interface ProvidedContext {
    archive: string
    images: Readonly<Record<string, UnpackedImage>>
  }
}

export default (project: TestProject): (() => void) => {
  if (process.getuid?.() !== 0) throw new ScriptError("the suite of the image needs root, for containers")
  needTools("runc", ...archs.filter((arch) => arch !== process.arch).map((arch) => platforms[arch].emulator))
  const archive = resolve(process.env.REGISTRAR_IMAGE || built)
  if (!existsSync(archive)) throw new ScriptError(`${archive} does not exist; build it with: npm run build:image`)

  const folder = mkdtempSync("/tmp/registrar-image-")
  const tar = (...args: ReadonlyArray<string>) => execFileSync("tar", args, { encoding: "utf8", maxBuffer: 2 ** 26 })
  tar("-xf", archive, "-C", folder)
  const blob = (digest: string) => join(folder, "blobs", digest.replace(":", "/"))
  const json = (file: string) => JSON.parse(readFileSync(file, "utf8"))
  const [index] = json(join(folder, "index.json")).manifests
  const images: Record<string, UnpackedImage> = {}
  for (const { digest, platform } of json(blob(index.digest)).manifests) {
    const { config, layers } = json(blob(digest))
    const root = join(folder, platform.architecture)
    mkdirSync(root)
    const listed: Array<string> = []
    for (const layer of layers) {
      tar("-xpf", blob(layer.digest), "-C", root)
      listed.push(...tar("--numeric-owner", "-tvf", blob(layer.digest)).trimEnd().split("\n"))
    }
    images[platform.architecture] = { config: json(blob(config.digest)), root, listed }
  }
  project.provide("archive", archive)
  project.provide("images", images)
  return () => rmSync(folder, { recursive: true })
}
