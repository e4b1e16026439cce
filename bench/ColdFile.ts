/**
 * A copy of an executable that no page cache holds: on a file system of its own, mounted anew. What it reads ahead is what a disk's usual setting reads, since
 * under a limit of memory that decides; direct I/O keeps the host's cache of the image out of it. Needs root.
 */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

import { tool } from "../scripts/tools.ts"
import { atEnd } from "./atEnd.ts"
import { execFileSync } from "node:child_process"

const readAheadKiB = 128
/** Of the file system, beside the file. */
const spareBytes = 2 ** 26

export class ColdFile {
  /** Nobody has read it since its file system was mounted. */
  readonly file: string
  readonly #root: string
  readonly #device: string
  readonly #forget: () => void

  private constructor(file: string, root: string, device: string, forget: () => void) {
    this.file = file
    this.#root = root
    this.#device = device
    this.#forget = forget
  }

  static async copyOf(source: string): Promise<ColdFile> {
    const root = mkdtempSync(join(tmpdir(), "bench-cold-"))
    const image = join(root, "image")
    const mountPoint = join(root, "mounted")
    mkdirSync(mountPoint)
    writeFileSync(image, "")
    truncateSync(image, statSync(source).size + spareBytes)
    await tool("mkfs.ext4", ["-q", "-F", image])
    const device = (await tool("losetup", ["--find", "--show", "--direct-io=on", image])).trim()
    const forget = atEnd(() => {
      execFileSync("sh", ["-c", `umount "$1" 2>/dev/null; losetup -d "$2"`, "sh", mountPoint, device])
      rmSync(root, { recursive: true })
    })
    writeFileSync(`/sys/block/${basename(device)}/queue/read_ahead_kb`, String(readAheadKiB))
    const file = join(mountPoint, basename(source))
    await tool("mount", [device, mountPoint])
    copyFileSync(source, file)
    chmodSync(file, 0o755)
    await tool("umount", [mountPoint])
    await tool("mount", ["-o", "ro", device, mountPoint])
    return new ColdFile(file, root, device, forget)
  }

  async close(): Promise<void> {
    await tool("umount", [join(this.#root, "mounted")])
    await tool("losetup", ["-d", this.#device])
    rmSync(this.#root, { recursive: true })
    this.#forget()
  }
}
