/** Processes as `/proc` of this machine shows them, those of the node's namespaces included. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** Undefined for what is not there, or not any more. */
const read = <A>(look: () => A): A | undefined => {
  try {
    return look()
  } catch {
    return undefined
  }
}

const pids = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/** Fields of `/proc/PID/status`. */
export const statusOf = (pid: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readFileSync(`/proc/${pid}/status`, "utf8")
      .split("\n")
      .map((line) => line.split(":\t", 2) as [string, string])
  )

export const childrenOf = (parent: number): ReadonlyArray<number> =>
  pids().filter((pid) => read(() => statusOf(pid))?.PPid === String(parent))

/** Running processes of a program, by the absolute path of its file, in the PID namespace of another process. */
export const pidsOfProgram = (file: string, peer: number): ReadonlyArray<number> => {
  const namespaceOf = (pid: number) => readlinkSync(`/proc/${pid}/ns/pid`)
  const theirs = namespaceOf(peer)
  return pids().filter(
    (pid) => read(() => readlinkSync(`/proc/${pid}/exe`)) === file && read(() => namespaceOf(pid)) === theirs
  )
}

/** The first process of a container. Its cgroup is named after the container, in either version of cgroups. */
export const pidOfContainer = (id: string): number => {
  const inside = pids().filter((pid) => read(() => readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.includes(id))
  const first = inside.find((pid) => read(() => statusOf(pid))?.NSpid?.endsWith("\t1"))
  if (first === undefined) throw new Error(`no process runs in container ${id}`)
  return first
}
