/**
 * What `--enable-inspector` serves: the page, the last events and those to come as server-sent events, and the same as a file. A piece of its own, loaded with
 * the flag only; so no module of the start path but version.ts may be imported here.
 *
 * While nobody is connected, it does not even listen to the chart. A client that does not read is hung up on; it may connect again, and gets the last events.
 */
import type { ServerResponse } from "node:http"

import { version } from "../../version.ts"
import type { Answer } from "../http/answer.ts"
import type { Entry, Status } from "../Status.ts"
import { chart, html, policy } from "./builtPage.ts"
import { encodeEntries, encodeEntry, encodeHeader, type Observed } from "./record.ts"

/** Characters of a record. A thousand events have a third of it, unless their texts are long: then older ones are left out. */
const longestRecord = 1024 * 1024
/** Bytes that may wait for a client to read them: a record, and as much again. */
const mostBehindBytes = 2 * 1024 * 1024
const mostClients = 8

export interface Limits {
  readonly longestRecord: number
  readonly mostBehindBytes: number
  readonly mostClients: number
}

/** By what follows `/debug/machine`. */
export interface Inspector {
  readonly page: () => Answer
  readonly events: () => Answer
  readonly file: () => Answer
}

const guarded = [
  ["Cache-Control", "no-store"],
  ["X-Content-Type-Options", "nosniff"]
] as const

const latin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1")

const observed = ({ at, event, before, after, detail }: Entry): Observed => ({
  at,
  event,
  before,
  after,
  value: detail?.value ?? after,
  payload: detail?.event ?? {},
  context: detail?.context ?? {}
})

const crowded: Answer = { status: 503, body: "too many clients of the inspector\n" }

export const makeInspector = (
  status: Status["Service"],
  limits: Limits = { longestRecord, mostBehindBytes, mostClients }
): Inspector => {
  const clients = new Set<ServerResponse>()
  /** The last entry that all clients have. */
  let last: Observed | undefined
  let mute: (() => void) | undefined

  const record = (): ReadonlyArray<string> => {
    const driver = status.snapshot()?.context.driverName ?? ""
    return [
      encodeHeader({ version, driver, chart, time: Date.now() }),
      ...encodeEntries(status.history().map(observed), limits.longestRecord)
    ]
  }

  const leave = (client: ServerResponse) => {
    clients.delete(client)
    if (clients.size > 0) return
    mute?.()
    mute = undefined
  }

  const tell = (entry: Entry, ended: boolean) => {
    const next = observed(entry)
    const text = message(encodeEntry(next, last))
    last = next
    for (const client of [...clients]) {
      client.write(text)
      if (client.writableLength > limits.mostBehindBytes) client.req.socket.destroy()
      else if (ended) client.end()
    }
  }

  const listen = () => {
    const newest = status.history().at(-1)
    last = newest === undefined ? undefined : observed(newest)
    mute = status.subscribe(({ entry, after }) => tell(entry, after.status !== "active"))
  }

  /** What was and what comes. Whoever has asked by another method than GET, or has closed its side, gets what was. */
  const stream = (client: ServerResponse) => {
    const { method, socket } = client.req
    client.write(record().map(message).join(""))
    const over = (status.snapshot()?.status ?? "active") !== "active"
    if (method !== "GET" || over || socket.readableEnded) return client.end()
    if (clients.size === 0) listen()
    clients.add(client)
    socket.once("end", () => {
      leave(client)
      client.end()
    })
    socket.once("close", () => leave(client))
    client.once("close", () => leave(client))
    return client
  }

  return {
    page: () => ({
      status: 200,
      body: latin1(html),
      headers: [
        ["Content-Type", "text/html; charset=utf-8"],
        ["Content-Security-Policy", policy],
        ["Referrer-Policy", "no-referrer"],
        ...guarded
      ]
    }),
    events: () =>
      clients.size >= limits.mostClients
        ? crowded
        : { status: 200, body: "", headers: [["Content-Type", "text/event-stream"], ...guarded], stream },
    file: () => ({
      status: 200,
      body: latin1(`${record().join("\n")}\n`),
      headers: [
        ["Content-Type", "application/x-ndjson"],
        ["Content-Disposition", 'attachment; filename="registrar-events.ndjson"'],
        ...guarded
      ]
    })
  }
}

/** A line of the record as a server-sent event. */
const message = (line: string) => `data: ${line}\n\n`
