/** A PID namespace of its own for all that is measured, as a container has: a probe looks through `/proc`, and hosts have hundreds of processes. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"

/** The first in a namespace is the only one that this can be said of. */
export const isOwnNamespace = (): boolean => process.pid === 1

/** Runs this very program once more, in there. Signals reach it. @returns its exit code */
export const inOwnNamespace = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
    const child = spawn("unshare", ["--pid", "--fork", "--kill-child", "--mount-proc", ...command], {
      stdio: "inherit"
    })
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        const inside = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"))
        if (inside > 0) process.kill(inside, signal)
      })
    }
    child.once("error", reject).once("exit", (code) => resolve(code ?? 1))
  })
