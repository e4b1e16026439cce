/** `npm start -- --csi-address=…`: the registrar itself, as if it had been started in our place. */
import { spawn } from "node:child_process"
import { constants } from "node:os"

import type { Bundle } from "./play.ts"

const passedOn = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const

/** The exit code of a process that a signal has ended, as a shell tells it. */
export const signalExitCode = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]

/** Runs the registrar with these arguments, on our stdio; signals go to it. Resolves with its exit code. */
export const passOn = async (args: ReadonlyArray<string>, makeBundle: Bundle): Promise<number> => {
  const arrived: Array<NodeJS.Signals> = []
  let deliver = (signal: NodeJS.Signals) => void arrived.push(signal)
  for (const signal of passedOn) process.on(signal, () => deliver(signal))
  const bundle = await makeBundle()
  const [early] = arrived
  if (early !== undefined) return signalExitCode(early)
  const child = spawn(process.execPath, [bundle, ...args], { stdio: "inherit" })
  deliver = (signal) => void child.kill(signal)
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("exit", (code, signal) => resolve(signal === null ? (code ?? 1) : signalExitCode(signal)))
  })
}
