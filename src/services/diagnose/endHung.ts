/**
 * Ends a process of which a thread hangs in the file system: Node's own exit waits for its threads, for ever. A new program takes the place of this one, threads
 * and all; it is this program again, with a flag for which it ends on the spot (docs/decisions/0012).
 */
import * as fs from "node:fs"

import { commandBefore } from "../probe/findRegistrar.ts"

/** A probe without a path ends with 1, and is not the end of a registrar. */
const flagFor = { 0: "--version", 1: "--mode=kubelet-registration-probe" }

/** What the new program says is nobody's to hear. The lowest number that is free is the one just closed. */
const silence = () => {
  for (const descriptor of [1, 2]) {
    fs.closeSync(descriptor)
    fs.openSync("/dev/null", "w")
  }
}

/** Ends with `code`; does nothing when no thread hangs. `args` are those of this process. */
export const endHung = (code: 0 | 1, args: ReadonlyArray<string>): void => {
  const isHung = process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"))
  const command = commandBefore(args)
  if (!isHung || command.length === 0) return
  silence()
  process.execve?.(process.execPath, [...command, flagFor[code]], process.env)
}
