// Draws a record of a registrar's life, as /debug/machine/events.ndjson has it, as a sequence of messages, in Mermaid.
//
//   node scripts/sequence.ts FILE
import { readFileSync } from "node:fs"
import { basename } from "node:path"

import { decodeRecord, type Entry, isFault, type Recording } from "../src/services/inspector/record.ts"
import { ScriptError, script } from "./tools.ts"

const longestText = 70

/** Text as Mermaid takes it: on one line, and without the characters that it reads itself. */
const plain = (text: unknown): string => {
  const line = String(text ?? "").replace(/\s+/g, " ")
  const shown = line.length > longestText ? `${line.slice(0, longestText)}…` : line
  return shown.replace(/[#;<>&]/g, (character) => `#${character.charCodeAt(0)};`)
}

const timer = /^xstate\.after\.(\w+)\./

/** What an event was, between whom; nothing for what nobody outside has seen. */
const messagesOf = ({ event, payload }: Entry): ReadonlyArray<string> => {
  switch (event) {
    case "driver.awaited":
      return [`registrar--xdriver: ${plain((payload.obstacle as { cause?: string } | undefined)?.cause)}`]
    case "driver.identified":
      return ["registrar->>driver: GetPluginInfo", `driver-->>registrar: ${plain(payload.name)}`]
    case "driver.lost":
      return ["driver--xregistrar: the connection ends"]
    case "socket.placed":
      return [`registrar->>folder: ${plain(basename(String(payload.path)))}`]
    case "socket.removed":
      return ["folder--xregistrar: the socket has been removed"]
    case "socket.displaced":
      return ["folder--xregistrar: another registrar's socket is there"]
    case "kubelet.asked":
      return ["kubelet->>registrar: GetInfo"]
    case "kubelet.accepted":
      return ["kubelet->>registrar: NotifyRegistrationStatus, registered"]
    case "kubelet.refused":
      return [`kubelet->>registrar: NotifyRegistrationStatus, ${plain(payload.text)}`]
    case "stop.requested":
      return [`Note over registrar: ${plain(payload.signal)}`]
    case "xstate.init":
      return []
    default: {
      const name = timer.exec(event)?.[1]
      return [`Note over registrar: ${name === undefined ? plain(event) : `after ${name}`}`]
    }
  }
}

/** The lifecycle state is told where it becomes another one, with the time since the beginning. */
export const sequenceOf = ({ entries }: Recording): string => {
  const [first] = entries
  const lines = entries.flatMap((entry, n) => [
    ...messagesOf(entry),
    ...(n === 0 || entry.before !== entry.after
      ? [`Note right of registrar: ${entry.after}, ${entry.at - (first?.at ?? 0)} ms`]
      : [])
  ])
  return [
    "sequenceDiagram",
    "  participant driver as CSI driver",
    "  participant registrar",
    "  participant folder as plugins_registry",
    "  participant kubelet",
    ...lines.map((line) => `  ${line}`)
  ].join("\n")
}

/** @throws {ScriptError} when the file is no record. */
export const sequenceOfFile = (file: string): string => {
  const record = decodeRecord(readFileSync(file, "utf8"))
  if (isFault(record)) throw new ScriptError(`${file}: ${record.fault}`)
  return sequenceOf(record)
}

if (import.meta.main) {
  await script(async () => {
    const [, , file] = process.argv
    if (file === undefined) throw new ScriptError("usage: node scripts/sequence.ts FILE")
    console.log(sequenceOfFile(file))
  })
}
