/** Images from scratch that hold one static program, by buildah: neither a registry nor an image store of the machine is touched. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

export interface ImageRecipe {
  /** A static program. */
  readonly program: string
  /** Where the OCI archive goes. */
  readonly archive: string
}

export const buildImage = ({ program, archive }: ImageRecipe): void => {
  const store = mkdtempSync(join(tmpdir(), "registrar-images-"))
  const buildah = (...args: ReadonlyArray<string>): string => {
    const storage = ["--storage-driver", "vfs", "--root", join(store, "root"), "--runroot", join(store, "run")]
    return execFileSync("buildah", [...storage, ...args], { encoding: "utf8" }).trim()
  }
  try {
    const name = basename(program)
    const container = buildah("from", "scratch")
    buildah("copy", "--quiet", container, program, `/${name}`)
    buildah("config", "--entrypoint", JSON.stringify([`/${name}`]), container)
    buildah("commit", "--quiet", container, name)
    buildah("push", "--quiet", name, `oci-archive:${archive}`)
  } finally {
    rmSync(store, { recursive: true, force: true })
  }
}
