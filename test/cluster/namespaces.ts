/** The way into the namespaces of the node, whose PID 1 is known. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"

const execFileOf = promisify(execFile)

/** Before the words of a command: runs it as one more process of the node, on the files of this machine. */
export const inside = (pid: number): ReadonlyArray<string> => [
  "nsenter",
  `--target=${pid}`,
  ...["--mount", "--net", "--pid", "--uts", "--wd=/", "--"]
]

export interface Said {
  readonly stdout: string
  readonly stderr: string
}

/** Rejects when the command does not exit with 0; the error has what it said on `stderr`. */
export const runInside = (pid: number, command: ReadonlyArray<string>, env = process.env): Promise<Said> => {
  const [file = "", ...args] = [...inside(pid), ...command]
  return execFileOf(file, args, { env, maxBuffer: 64 * 1024 * 1024 })
}
