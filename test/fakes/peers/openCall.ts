/** A GetInfo that its client has begun and not finished: head and half of the message are with the server, the rest waits for `finish`. */
import { once } from "node:events"
import * as http2 from "node:http2"
import * as net from "node:net"

const emptyMessage = Buffer.alloc(5)
const half = 2

export interface OpenCall {
  /** Sends the rest, and answers with the status the call ends with and the bytes it brought. */
  readonly finish: () => Promise<{ readonly grpcStatus: string | undefined; readonly bytes: number }>
  readonly close: () => void
}

export const beginGetInfo = async (socket: string): Promise<OpenCall> => {
  const session = http2.connect("http://localhost", { createConnection: () => net.connect(socket) })
  session.on("error", () => {})
  // Node cancels a ping that is asked for before the session is connected.
  await once(session, "remoteSettings")
  const stream = session.request({
    ":method": "POST",
    ":path": "/pluginregistration.Registration/GetInfo",
    "content-type": "application/grpc",
    te: "trailers"
  })
  stream.on("error", () => {})
  stream.write(emptyMessage.subarray(0, half))
  // The answer to a ping comes after the server has read what was sent before it.
  await new Promise<void>((resolve, reject) => session.ping((error) => (error === null ? resolve() : reject(error))))
  const ended = new Promise<{ grpcStatus: string | undefined; bytes: number }>((resolve) => {
    let grpcStatus: string | undefined
    let bytes = 0
    stream.on("response", (headers) => {
      grpcStatus = headers["grpc-status"] as string | undefined
    })
    stream.on("trailers", (trailers) => {
      grpcStatus = trailers["grpc-status"] as string | undefined
    })
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length
    })
    stream.on("close", () => resolve({ grpcStatus, bytes }))
  })
  return {
    finish: () => {
      stream.end(emptyMessage.subarray(half))
      return ended
    },
    close: () => session.destroy()
  }
}
