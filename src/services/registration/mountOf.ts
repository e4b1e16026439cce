/** Which folder of the host a folder of this container really is, as far as `/proc/self/mountinfo` tells. */
import * as fs from "node:fs"
import * as path from "node:path"

export interface HostFolder {
  /** Within its file system, which may itself be mounted somewhere on the host. */
  readonly path: string
  /** The device, or what stands for one. */
  readonly source: string
  readonly type: string
  /** The host has removed the folder that is mounted here. */
  readonly deleted: boolean
}

/** Reads it off the text of `mountinfo`; `real` is an absolute path without symlinks. */
export const hostFolderIn = (mountinfo: string, real: string): HostFolder | undefined => {
  const [mount] = mountsIn(mountinfo)
    .filter(({ point }) => real === point || real.startsWith(point.endsWith("/") ? point : `${point}/`))
    .sort((a, b) => b.point.length - a.point.length)
  if (mount === undefined) return undefined
  const { source, type } = mount
  const root = mount.root.replace(deletedMark, "")
  const deleted = root !== mount.root
  return { path: path.join(root, path.relative(mount.point, real)), source, type, deleted }
}

/** For the log: the path within its file system, and what that is. Empty where it cannot be found out. */
export const mountOf = (folder: string): string => {
  try {
    const found = hostFolderIn(fs.readFileSync("/proc/self/mountinfo", "utf8"), fs.realpathSync(folder))
    return found === undefined ? "" : hostFolderText(found)
  } catch {
    return ""
  }
}

export const hostFolderText = ({ path, source, type, deleted }: HostFolder): string =>
  `${path}${deleted ? " (deleted)" : ""} on ${source} (${type})`

/** What the kernel puts behind the root of a mount that has been removed. */
const deletedMark = /\/\/deleted$/

/** Fields as in proc(5); a blank in a path is an octal escape there. */
const mountsIn = (mountinfo: string) =>
  mountinfo
    .trimEnd()
    .split("\n")
    .reverse()
    .map((line) => {
      const [before = "", after = ""] = line.split(" - ")
      const [, , , root = "", point = ""] = before.split(" ")
      const [type = "", source = ""] = after.split(" ")
      return { root: unescaped(root), point: unescaped(point), type, source }
    })

const unescaped = (field: string) =>
  field.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))
