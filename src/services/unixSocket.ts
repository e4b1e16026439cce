/** Facts about unix sockets and file system errors that the driver's half and the registration half share. */
import * as net from "node:net"

import * as Effect from "effect/Effect"

import { codeOf } from "./codeOf.ts"
import { http2Greeting } from "./http2Greeting.ts"

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

/**
 * What a connection to a socket path meets: somebody who listens, a socket that nobody serves, nothing, a full backlog, no right, or a fault that tells
 * nothing about the other side (no descriptor left, not a stream socket).
 */
export type Knock = "listening" | "refused" | "gone" | "busy" | "denied" | { readonly unknown: string }

const knocks: Readonly<Record<string, Knock>> = {
  ECONNREFUSED: "refused",
  ENOENT: "gone",
  EAGAIN: "busy",
  EACCES: "denied",
  EPERM: "denied"
}

/** Connects and hangs up. */
export const knock = (socketPath: string): Effect.Effect<Knock> =>
  Effect.callback((resume) => {
    const socket = net.connect({ path: socketPath })
    const settle = (answer: Knock) => {
      socket.destroy()
      resume(Effect.succeed(answer))
    }
    socket.on("connect", () => settle("listening"))
    socket.on("error", (error) => settle(knocks[codeOf(error)] ?? { unknown: codeOf(error) }))
    return Effect.sync(() => socket.destroy())
  })

/**
 * Whether a process hangs: the kernel accepts for it, and an HTTP/2 client hears nothing for `withinMs`. Whoever answers, hangs up, or cannot be connected to
 * (a full queue, no descriptor left on either side) is not known to hang.
 */
export const isSilent = (socketPath: string, withinMs: number): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const socket = net.connect({ path: socketPath })
    const alive = () => {
      socket.destroy()
      resume(Effect.succeed(false))
    }
    socket.write(http2Greeting)
    socket.on("data", alive)
    socket.on("error", alive)
    socket.on("end", alive)
    return Effect.sync(() => socket.destroy())
  }).pipe(
    Effect.timeoutOption(withinMs),
    Effect.map((spoken) => spoken._tag === "None")
  )
