/** Which folder of the host a folder of this container really is, as far as `/proc/self/mountinfo` tells. */
import * as fs from "node:fs"
import * as path from "node:path"

/** For the log: the path within its file system, and what that is. Empty where it cannot be found out. */
export const mountOf = (folder: string): string => {
  try {
    const real = fs.realpathSync(folder)
    const [mount] = mountsIn(fs.readFileSync("/proc/self/mountinfo", "utf8"))
      .filter(({ point }) => real === point || real.startsWith(point.endsWith("/") ? point : `${point}/`))
      .sort((a, b) => b.point.length - a.point.length)
    if (mount === undefined) return ""
    return `${path.join(mount.root, path.relative(mount.point, real))} on ${mount.source} (${mount.type})`
  } catch {
    return ""
  }
}

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
