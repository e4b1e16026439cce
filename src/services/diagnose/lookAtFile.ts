/** What lies at a path, and on which folder of the host. A file system that does not answer ends in `hangs`, not in silence. */
import type { Dirent } from "node:fs"
import * as fs from "node:fs/promises"
import * as path from "node:path"

import { codeOf } from "../codeOf.ts"
import { type HostFolder, hostFolderIn } from "../registration/mountOf.ts"
import { within } from "./within.ts"

const limitMs = 2_000

export type FileFacts =
  | {
      readonly kind: "there"
      readonly type: "socket" | "folder" | "other"
      /** The permission bits. */
      readonly mode: number
      readonly uid: number
      readonly gid: number
      /** This process may write to it: connect to a socket, make files in a folder. */
      readonly writable: boolean
    }
  /** `beside` are the names in the folder where it should lie; undefined when there is no such folder. */
  | { readonly kind: "missing"; readonly beside: ReadonlyArray<string> | undefined }
  | { readonly kind: "error"; readonly code: string }
  | { readonly kind: "hangs" }

/** Follows symlinks, as whoever connects does. */
export const lookAtFile = (file: string): Promise<FileFacts> => within(limitMs, facts(file), { kind: "hangs" })

const facts = async (file: string): Promise<FileFacts> => {
  try {
    const stats = await fs.stat(file)
    const type = stats.isSocket() ? "socket" : stats.isDirectory() ? "folder" : "other"
    const wanted = type === "folder" ? fs.constants.W_OK | fs.constants.X_OK : fs.constants.W_OK
    const writable = await fs.access(file, wanted).then(
      () => true,
      () => false
    )
    return { kind: "there", type, mode: stats.mode & 0o7777, uid: stats.uid, gid: stats.gid, writable }
  } catch (error) {
    const code = codeOf(error)
    if (code !== "ENOENT") return { kind: "error", code }
    return { kind: "missing", beside: await fs.readdir(path.dirname(file)).catch(() => undefined) }
  }
}

/** What may be a socket, or lead to one. */
const mayBeSocket = (entry: Dirent) => entry.isSocket() || entry.isSymbolicLink()

/** The names of sockets and symlinks in a folder, sorted; undefined when they cannot be read. */
export const socketNamesIn = async (folder: string): Promise<ReadonlyArray<string> | undefined> => {
  const entries = await within(
    limitMs,
    fs.readdir(folder, { withFileTypes: true }).catch(() => undefined),
    undefined
  )
  return entries
    ?.filter(mayBeSocket)
    .map(({ name }) => name)
    .sort()
}

/** Undefined where it cannot be found out. */
export const hostFolderOf = (folder: string): Promise<HostFolder | undefined> =>
  within(limitMs, readHostFolder(folder), undefined)

const readHostFolder = async (folder: string): Promise<HostFolder | undefined> => {
  try {
    return hostFolderIn(await fs.readFile("/proc/self/mountinfo", "utf8"), await fs.realpath(folder))
  } catch {
    return undefined
  }
}
