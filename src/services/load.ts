/**
 * The heavy half, in pieces. A signal is heard between two turns of the loop, so whoever loads them lets the loop turn after each: in one
 * piece a signal would wait for twice as long.
 */
export const pieces: ReadonlyArray<() => Promise<unknown>> = [
  () => import("node:http2"),
  () => import("@grpc/grpc-js"),
  () => import("effect/Layer")
]

export const loadProgram = () => import("./Program.ts")
