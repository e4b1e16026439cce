/** Clients of a registration socket that no kubelet is: silent, garbled, half-way, of another protocol, too loud. */
import * as crypto from "node:crypto"
import { once } from "node:events"
import * as net from "node:net"

import * as grpc from "@grpc/grpc-js"

const connect = async (socket: string): Promise<net.Socket> => {
  const connection = net.connect(socket)
  await once(connection, "connect")
  connection.on("error", () => connection.destroy()).resume()
  return connection
}

const closed = async (connection: net.Socket): Promise<void> => {
  if (!connection.closed) await once(connection, "close")
}

/** Says nothing, or the first bytes and no more, and stays. */
export const lingers = async (socket: string, firstBytes: string): Promise<net.Socket> => {
  const connection = await connect(socket)
  if (firstBytes !== "") connection.write(firstBytes)
  return connection
}

/** Ends a connection from our side. */
export const leaves = async (connection: net.Socket): Promise<void> => {
  connection.destroy()
  await closed(connection)
}

/** Says something that is no HTTP/2, and waits until it is cut off. */
export const isCutOff = async (socket: string, bytes: string | Buffer): Promise<void> => {
  const connection = await connect(socket)
  connection.write(bytes)
  await closed(connection)
}

export const garbage = (bytes: number): Buffer => crypto.randomBytes(bytes)

export const halfPreface = "PRI * HTTP/2.0\r\n"

export const http1Request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

/** A GetInfo with a message of that many bytes; answers with what it is refused with. */
export const sendsMessage = (
  socket: string,
  bytes: number
): Promise<{ readonly code: number; readonly details: string }> =>
  new Promise((resolve) => {
    const client = new grpc.Client(`unix:${socket}`, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1
    })
    client.makeUnaryRequest(
      "/pluginregistration.Registration/GetInfo",
      (message: Buffer) => message,
      (reply: Buffer) => reply,
      Buffer.alloc(bytes),
      (error) => {
        client.close()
        resolve({ code: error?.code ?? grpc.status.OK, details: error?.details ?? "" })
      }
    )
  })
