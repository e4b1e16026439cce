/**
 * The routes below /debug/pprof/, as Go's net/http/pprof has them, but for exact paths only, for GET and HEAD, with a limit on `seconds`, and without what
 * has no counterpart in V8. Begins the piece of the bundle that is loaded with --enable-pprof.
 */
import type { Socket } from "node:net"
import { gzip } from "node:zlib"

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

import type { Answer } from "../answer.ts"
import type { Request } from "../request.ts"
import type { Route, Routes } from "../routes.ts"
import { cpuProfile } from "./cpuProfile.ts"
import { heapProfile } from "./heapProfile.ts"
import { indexPage } from "./indexPage.ts"
import { encodeProfile, type Profile } from "./Profile.ts"
import { heapIntervalBytes, V8Profiler } from "./V8Profiler.ts"

const seconds = { least: 1, most: 300, default: 30 }
/** A hundred samples a second, as in Go: ten times as many would take half of a quota of 100m. */
const intervalUs = 10_000

const plain = ["Content-Type", "text/plain; charset=utf-8"] as const
const nosniff = ["X-Content-Type-Options", "nosniff"] as const

/** `X-Go-Pprof` makes go tool pprof show the text. */
const refusal = (status: 400 | 500, text: string): Answer => ({
  status,
  body: `${text}\n`,
  headers: [plain, nosniff, ["X-Go-Pprof", "1"]]
})

const methodNotAllowed: Answer = {
  status: 405,
  body: "Method Not Allowed\n",
  headers: [["Allow", "GET, HEAD"], plain, nosniff]
}

const index: Answer = {
  status: 200,
  body: indexPage,
  headers: [["Content-Type", "text/html; charset=utf-8"], nosniff]
}

const attachment = (name: string, body: string): Answer => ({
  status: 200,
  body,
  headers: [
    ["Content-Disposition", `attachment; filename="${name}"`],
    ["Content-Type", "application/octet-stream"],
    nosniff
  ]
})

/** Compressed, a character a byte. */
const compressed = (profile: Profile): Effect.Effect<string> =>
  Effect.callback((resume) => {
    gzip(encodeProfile(profile), (error, bytes) =>
      resume(error === null ? Effect.succeed(bytes.toString("latin1")) : Effect.die(error))
    )
  })

/** Succeeds when the client has closed its side: as in Go, it then gets what there is. Interrupts when nobody is there to get it. */
const hangUp = (connection: Socket): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const ended = () => resume(Effect.void)
    const closed = () => resume(Effect.interrupt)
    if (connection.destroyed) closed()
    else if (connection.readableEnded) ended()
    connection.once("end", ended).once("close", closed)
    return Effect.sync(() => {
      connection.off("end", ended).off("close", closed)
    })
  })

const secondsOf = (text: string | null): number | undefined => {
  if (text === null) return seconds.default
  const wanted = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return wanted >= seconds.least && wanted <= seconds.most ? wanted : undefined
}

/** A client that node:http does not know the method of is not heard to hang up. */
const read =
  (route: Route): Route =>
  (request, connection) =>
    request.method === "GET" || request.method === "HEAD"
      ? route(request, connection)
      : Effect.succeed(methodNotAllowed)

export const pprofRoutes: Effect.Effect<Routes, never, V8Profiler> = Effect.map(V8Profiler, (profiler) => {
  const profile: Route = Effect.fnUntraced(
    function* ({ method, target }: Request, connection: Socket) {
      const wanted = secondsOf(new URLSearchParams(target.query).get("seconds"))
      if (wanted === undefined) {
        return refusal(400, `seconds must be a whole number from ${seconds.least} to ${seconds.most}`)
      }
      if (method === "HEAD") return attachment("profile", "")
      const takenAtMs = yield* Clock.currentTimeMillis
      const over = Effect.timeoutOption(hangUp(connection), wanted * 1_000)
      const taken = yield* profiler.cpu(intervalUs, over)
      return attachment("profile", yield* compressed(cpuProfile(taken, intervalUs, takenAtMs)))
    },
    Effect.catchTag("AlreadyProfilingError", ({ message }) => Effect.succeed(refusal(500, message)))
  )

  const heap: Route = Effect.fnUntraced(function* ({ method, target }: Request) {
    const query = new URLSearchParams(target.query)
    if (query.has("seconds")) return refusal(400, '"seconds" parameter is not supported for this profile type')
    if (method === "HEAD") return attachment("heap", "")
    const taken = yield* profiler.heap(Number(query.get("gc")) > 0)
    const takenAtMs = yield* Clock.currentTimeMillis
    return attachment("heap", yield* compressed(heapProfile(taken, heapIntervalBytes, takenAtMs)))
  })

  return new Map<string, Route>([
    ["/debug/pprof/", read(() => Effect.succeed(index))],
    ["/debug/pprof/heap", read(heap)],
    ["/debug/pprof/profile", read(profile)]
  ])
})

/** With V8's profilers, until the scope ends. */
export const makePprofRoutes: Effect.Effect<Routes, never, Scope.Scope> = Effect.flatMap(
  Layer.build(V8Profiler.layer()),
  (services) => Effect.provideContext(pprofRoutes, services)
)
