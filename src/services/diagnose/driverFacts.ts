/** What a look at the driver's socket finds. It connects, and makes calls that change nothing. */
import * as path from "node:path"

import type { HostFolder } from "../registration/mountOf.ts"
import { callAll, type Reply } from "./call.ts"
import { type Greeting, greet } from "./greet.ts"
import { type FileFacts, hostFolderOf, lookAtFile } from "./lookAtFile.ts"

/** More than any `--timeout` that makes sense, so that slow and mute are told apart. */
const callLimitMs = 4_500

const methods = {
  getPluginInfo: "/csi.v1.Identity/GetPluginInfo",
  probe: "/csi.v1.Identity/Probe",
  getPluginCapabilities: "/csi.v1.Identity/GetPluginCapabilities",
  nodeGetInfo: "/csi.v1.Node/NodeGetInfo"
}

export type Calls = Readonly<Record<keyof typeof methods, Reply>>

export interface DriverFacts {
  readonly socketPath: string
  readonly file: FileFacts
  /** Of the folder in which the socket lies. */
  readonly host: HostFolder | undefined
  /** Undefined when there is no socket. */
  readonly greeting: Greeting | undefined
  /** Undefined when nobody speaks HTTP/2. */
  readonly calls: Calls | undefined
}

/** Takes 8.5 s at most, when everything hangs. */
export const lookAtDriver = async (socketPath: string): Promise<DriverFacts> => {
  const [file, host] = await Promise.all([lookAtFile(socketPath), hostFolderOf(path.dirname(socketPath))])
  const isSocket = file.kind === "there" && file.type === "socket"
  const greeting = isSocket ? await greet(socketPath) : undefined
  const calls = greeting?.kind === "http2" ? await callsTo(socketPath) : undefined
  return { socketPath, file, host, greeting, calls }
}

const callsTo = async (socketPath: string): Promise<Calls> => {
  const names = Object.keys(methods) as ReadonlyArray<keyof typeof methods>
  const replies = await callAll(
    socketPath,
    names.map((name) => methods[name]),
    callLimitMs
  )
  // A reply for each method, in their order.
  return Object.fromEntries(names.map((name, i) => [name, replies[i]])) as unknown as Calls
}
