/**
 * What a look at the registration folder finds: what it is, on the host too, and which sockets in it answer. A registrar's socket is greeted and no more:
 * a GetInfo would look to it as the kubelet's.
 */
import * as path from "node:path"

import type { HostFolder } from "../registration/mountOf.ts"
import { maxSocketPathBytes, pathBytes } from "../socketPath.ts"
import { callAll, grpcCode } from "./call.ts"
import { type Greeting, greet } from "./greet.ts"
import { type FileFacts, hostFolderOf, lookAtFile, socketNamesIn } from "./lookAtFile.ts"
import { readRegisteredName } from "./messages.ts"

const callLimitMs = 1_000
/** A node has some ten. */
const mostSockets = 100

export interface SocketFacts {
  /** Of the file, in the folder. */
  readonly name: string
  readonly greeting: Greeting
  /** Undefined when it is not known. */
  readonly driverName: string | undefined
}

export interface FolderFacts {
  readonly folder: string
  readonly file: FileFacts
  readonly host: HostFolder | undefined
  /** Sorted by name, without dot-names, which the kubelet ignores; undefined when the folder cannot be read. */
  readonly sockets: ReadonlyArray<SocketFacts> | undefined
}

/** The name that every registrar gives its socket. */
export const registrationName = /^(.*)-reg\.sock$/

/** Takes 8 s at most, when everything hangs. */
export const lookAtFolder = async (folder: string): Promise<FolderFacts> => {
  const [file, host, names] = await Promise.all([lookAtFile(folder), hostFolderOf(folder), socketNamesIn(folder)])
  const visible = names?.filter((name) => !name.startsWith("."))
  const looked = visible && (await Promise.all(visible.slice(0, mostSockets).map((name) => lookAtSocket(folder, name))))
  return { folder, file, host, sockets: looked?.filter((socket) => socket !== undefined) }
}

const lookAtSocket = async (folder: string, name: string): Promise<SocketFacts | undefined> => {
  const socketPath = path.join(folder, name)
  const file = await lookAtFile(socketPath)
  if (file.kind !== "there" || file.type !== "socket" || pathBytes(socketPath) > maxSocketPathBytes) return undefined
  const greeting = await greet(socketPath)
  const [, told] = registrationName.exec(name) ?? []
  const driverName = told ?? (greeting.kind === "http2" ? await registeredName(socketPath) : undefined)
  return { name, greeting, driverName }
}

/** What a plugin that has a socket of another name tells the kubelet; undefined for whatever is none. */
const registeredName = async (socketPath: string): Promise<string | undefined> => {
  const [reply] = await callAll(socketPath, ["/pluginregistration.Registration/GetInfo"], callLimitMs)
  return reply?.code === grpcCode.ok ? readRegisteredName(reply.response) : undefined
}
