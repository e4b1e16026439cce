/**
 * Where a registrar can be asked for its state: a dot-name in its registration folder, which the kubelet ignores, made from PID namespace and pid, so
 * that whoever knows the process knows the name. Both ends of the question compute it.
 */
import * as fs from "node:fs"
import * as path from "node:path"

/** At most 10 bytes, as every dot-name in the folder, or a long folder could hold the registration socket but not this. */
const hashLength = 8
const prefix = ".s"

export const statusSocketName = /^\.s[0-9a-z]{8}$/

/** 0 where `/proc` cannot be read, and then nobody could find a registrar to ask. */
const pidNamespace = (): bigint => {
  try {
    return BigInt(/\d+/.exec(fs.readlinkSync("/proc/self/ns/pid"))?.[0] ?? 0)
  } catch {
    return 0n
  }
}

/** `pid` as its own namespace counts it. */
export const statusSocketPath = (folder: string, pid: number): string => {
  const namespace = pidNamespace()
  const mixed = (namespace * 2n ** 22n + BigInt(pid)) * 0x9e37_79b9_7f4a_7c15n
  const hash = ((mixed >> 20n) % 36n ** BigInt(hashLength)).toString(36).padStart(hashLength, "0")
  return path.join(folder, `${prefix}${hash}`)
}

/** What is answered, as one line of JSON. */
export interface StatusAnswer {
  /** The lifecycle state by its name. */
  readonly state: string
  /** The kubelet has registered the driver, and our socket is in place. */
  readonly registered: boolean
  /** One line: what is missing, or `registered`. */
  readonly reason: string
  /** Times are milliseconds since the epoch. What has not happened yet, or is not known to an older registrar, is left out. */
  readonly since?: number | undefined
  readonly lastGetInfo?: number | undefined
  readonly lastVerdict?: { readonly at: number; readonly accepted: boolean; readonly text: string } | undefined
}
