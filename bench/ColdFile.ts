/**
 * A copy of an executable that no page cache holds: on a file system of its own, mounted anew. What it reads ahead is what a disk's usual setting reads, since
 * under a limit of memory that decides; direct I/O keeps the host's cache of the image out of it. Needs root.
 */
import { execFileSync } from "node:child_process"
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

import { tool } from "../scripts/tools.ts"
import { atEnd } from "./atEnd.ts"
import { needRoot } from "./needRoot.ts"

const readAheadKiB = 128
/** Of the file system, beside the file. */
const spareBytes = 2 ** 26
const dismantle = `if mountpoint -q "$1"; then umount "$1" || exit 1; fi; losetup -d "$2"`

export class ColdFile {
  /** Nobody has read it since its file system was mounted. */
  readonly file: string
  readonly #remove: () => void
  readonly #forget: () => void

  private constructor(file: string, remove: () => void, forget: () => void) {
    this.file = file
    this.#remove = remove
    this.#forget = forget
  }

  static async copyOf(source: string): Promise<ColdFile> {
    needRoot()
    const root = mkdtempSync(join(tmpdir(), "bench-cold-"))
    const image = join(root, "image")
    const mountPoint = join(root, "mounted")
    let device = ""
    const remove = () => {
      if (device !== "") execFileSync("sh", ["-c", dismantle, "sh", mountPoint, device])
      device = ""
      rmSync(root, { recursive: true })
    }
    const forget = atEnd(remove)
    mkdirSync(mountPoint)
    writeFileSync(image, "")
    truncateSync(image, statSync(source).size + spareBytes)
    await tool("mkfs.ext4", ["-q", "-F", image])
    device = (await tool("losetup", ["--find", "--show", "--direct-io=on", image])).trim()
    writeFileSync(`/sys/block/${basename(device)}/queue/read_ahead_kb`, String(readAheadKiB))
    const file = join(mountPoint, basename(source))
    await tool("mount", [device, mountPoint])
    copyFileSync(source, file)
    chmodSync(file, 0o755)
    await tool("umount", [mountPoint])
    await tool("mount", ["-o", "ro", device, mountPoint])
    return new ColdFile(file, remove, forget)
  }

  close(): void {
    this.#remove()
    this.#forget()
  }
}
