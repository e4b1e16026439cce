/** Ports of TCP that a process listens on. */
import * as fs from "node:fs"

export const listeningPorts = (pid: number): ReadonlyArray<number> => {
  const inodes = new Set(
    fs
      .readdirSync(`/proc/${pid}/fd`)
      .flatMap((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1] ?? [])
  )
  const listening = "0A"
  return ["tcp", "tcp6"].flatMap((kind) =>
    fs
      .readFileSync(`/proc/${pid}/net/${kind}`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode = ""]) => state === listening && inodes.has(inode))
      .map(([, local = ""]) => Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16))
  )
}

const linkOf = (path: string): string => {
  try {
    return fs.readlinkSync(path)
  } catch {
    return ""
  }
}
