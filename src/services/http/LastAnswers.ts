/**
 * The last answer of connections that node:http has let go of: after a CONNECT, and after something that it could not read. It waits for the answers
 * before it; then the connection ends, and the rest of what the peer sends is thrown away for a while, or a reset could overtake the answer.
 */
import { type IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** As in Go. */
const lingerMs = 500

export class LastAnswers {
  readonly #latest = new WeakMap<Socket, ServerResponse>()
  readonly #sockets = new Set<Socket>()

  /** For each response of node:http itself, in order. */
  follow({ socket }: IncomingMessage, response: ServerResponse): void {
    this.#latest.set(socket, response)
    // With a Connection header of our own, node forgets to end what the peer has ended.
    response.once("close", () => {
      const isLatest = this.#latest.get(socket) === response && !this.#sockets.has(socket)
      if (isLatest && socket.readableEnded) socket.end()
    })
  }

  /** `write` is called once, at once or later; never when the connection has gone or has had its last answer. */
  answer(incoming: IncomingMessage, write: (response: ServerResponse) => void): void {
    const { socket } = incoming
    if (socket.destroyed || this.#sockets.has(socket)) return
    this.#sockets.add(socket)
    // Were the peer's end heard now, node:http would end the connection after the answer before this one.
    socket.pause()
    // After a CONNECT nobody else listens, and an error that is not heard ends the process.
    socket.on("error", () => socket.destroy())
    socket.once("close", () => this.#sockets.delete(socket))
    const begin = () => {
      if (!socket.writable) return
      const response = new ServerResponse(incoming)
      response.assignSocket(socket)
      response.once("finish", () => hangUp(socket))
      write(response)
    }
    const before = this.#latest.get(socket)
    if (before === undefined || before.closed) begin()
    else before.once("close", begin)
  }

  /** The server knows these connections no more, or not for long. */
  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

const hangUp = (socket: Socket) => {
  socket.end()
  socket.resume()
  const linger = setTimeout(() => socket.destroy(), lingerMs)
  socket.once("close", () => clearTimeout(linger))
}
