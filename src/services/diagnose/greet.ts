/**
 * Who speaks at a socket: greets as an HTTP/2 client does, and hears what comes first. Whoever says nothing to that, or hangs up, is spoken to in HTTP/1,
 * which many servers of HTTP/1 need before they answer at all.
 */
import * as net from "node:net"

import { codeOf } from "../codeOf.ts"
import { http2Greeting } from "../http2Greeting.ts"

export type Greeting =
  | { readonly kind: "http2"; readonly tookMs: number }
  | { readonly kind: "http1" }
  /** `first` are its first bytes, as Latin-1. */
  | { readonly kind: "stranger"; readonly first: string }
  /** The kernel accepts for a process that says nothing. */
  | { readonly kind: "silent" }
  | { readonly kind: "hangsUp" }
  | { readonly kind: "noConnection"; readonly code: string }

const limitMs = 2_000
const http1LimitMs = 1_000

const http1Request = Buffer.from("OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

/** A frame's header, and more than enough to know HTTP/1 by. */
const telling = 9
const settingsFrame = 4
const shown = 20

const isSettings = (heard: Buffer) =>
  heard.length >= telling && heard[3] === settingsFrame && (heard.readUInt32BE(5) & 0x7fff_ffff) === 0
const isHttp1 = (heard: Buffer) => heard.subarray(0, 5).toString("latin1") === "HTTP/"

/** Takes 3 s at most. */
export const greet = async (socketPath: string): Promise<Greeting> => {
  const from = performance.now()
  const heard = await say(socketPath, http2Greeting, limitMs)
  if (Buffer.isBuffer(heard)) {
    if (isSettings(heard)) return { kind: "http2", tookMs: performance.now() - from }
    return isHttp1(heard) ? { kind: "http1" } : { kind: "stranger", first: heard.subarray(0, shown).toString("latin1") }
  }
  if (heard.kind === "noConnection") return heard
  const second = await say(socketPath, http1Request, http1LimitMs)
  return Buffer.isBuffer(second) && isHttp1(second) ? { kind: "http1" } : heard
}

type NothingHeard = Extract<Greeting, { readonly kind: "silent" | "hangsUp" | "noConnection" }>

const say = (socketPath: string, words: Buffer, withinMs: number): Promise<Buffer | NothingHeard> =>
  new Promise((resolve) => {
    let heard = Buffer.alloc(0)
    let connected = false
    const socket = net.connect({ path: socketPath })
    const end = (nothing: NothingHeard) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(heard.length > 0 ? heard : nothing)
    }
    const timer = setTimeout(() => end({ kind: "silent" }), withinMs)
    socket.on("connect", () => {
      connected = true
      socket.write(words)
    })
    socket.on("data", (chunk) => {
      heard = Buffer.concat([heard, chunk])
      if (heard.length >= telling) end({ kind: "silent" })
    })
    socket.on("end", () => end({ kind: "hangsUp" }))
    socket.on("error", (error) => end(connected ? { kind: "hangsUp" } : { kind: "noConnection", code: codeOf(error) }))
  })
