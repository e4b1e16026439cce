/** Facts about unix sockets and file system errors that the driver's half and the registration half share. */
import * as net from "node:net"

import * as Effect from "effect/Effect"

/** sockaddr_un holds 108 bytes with the terminating zero; libuv would cut a longer path in silence. */
export const maxSocketPathBytes = 107

export const pathBytes = (socketPath: string) => Buffer.byteLength(socketPath)

/** The code of a system error, or its text. */
export const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error)

const goReasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  ENOTDIR: "not a directory",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
  EADDRINUSE: "address already in use",
  ENOSPC: "no space left on device"
}

/** The reason as Go prints it; the code where Go's words are not known. */
export const reasonOf = (error: unknown) => goReasons[codeOf(error)] ?? codeOf(error)

/** Connects and hangs up: whether somebody listens. */
export const knock = (socketPath: string): Effect.Effect<"listening" | "refused" | "gone" | "denied" | "busy"> =>
  Effect.callback((resume) => {
    const socket = net.connect({ path: socketPath })
    const settle = (answer: "listening" | "refused" | "gone" | "denied" | "busy") => {
      socket.destroy()
      resume(Effect.succeed(answer))
    }
    socket.on("connect", () => settle("listening"))
    socket.on("error", (error) => {
      switch (codeOf(error)) {
        case "ECONNREFUSED":
          return settle("refused")
        case "EACCES":
        case "EPERM":
          return settle("denied")
        case "EAGAIN":
          return settle("busy")
        default:
          return settle("gone")
      }
    })
    return Effect.sync(() => socket.destroy())
  })
