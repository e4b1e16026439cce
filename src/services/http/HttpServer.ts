/**
 * The HTTP endpoint: `/healthz` with upstream's statuses and bodies, `/livez` and `/readyz` beside it. It answers from the first moment and reads
 * everything off the status of the chart; no route changes anything.
 */
import * as dns from "node:dns"
import * as http from "node:http"

import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"

import { driverConnected, health, lifecycleState, readiness } from "../../machine/report.ts"
import { Klog } from "../Klog.ts"
import * as lines from "../log/catalogue.ts"
import { RegistrationServer } from "../registration/RegistrationServer.ts"
import type { SelfCheckError } from "../registration/selfCheck.ts"
import { Status } from "../Status.ts"
import { reasonOf } from "../unixSocket.ts"
import { isName, parseListenAddress } from "./listenAddress.ts"

/** The address cannot be listened on; nothing has been announced yet. */
export class HttpAddressError extends Data.TaggedError("HttpAddressError")<{ readonly reason: string }> {
  override get message() {
    return this.reason
  }
}

export interface Answer {
  readonly status: number
  readonly body: string
  readonly type?: string
}

const ok: Answer = { status: 200, body: "ok" }
const unavailable = (reason: string): Answer => ({ status: 503, body: reason })
const starting = unavailable("connecting: the registrar is starting")
const notFound: Answer = { status: 404, body: "404 page not found\n" }

const make = (endpoint: string) =>
  Effect.gen(function* () {
    const log = yield* Klog
    if (endpoint === "") return log.write(lines.skippingHttp)
    log.write(lines.startingHttp, { endpoint })
    const status = yield* Status
    const registration = yield* RegistrationServer
    const requests = yield* FiberSet.make<unknown, unknown>()
    const fork = yield* FiberSet.runtime(requests)()

    const logged = registration.selfCheck.pipe(
      Effect.tap(() => Effect.sync(() => log.write(lines.healthCheckSucceeded))),
      Effect.tapError((error) =>
        Effect.sync(() => {
          if (error.kind === "missing") log.write(lines.healthCheckNoSocket)
          else log.write(lines.healthCheckFailed, { err: error.reason })
        })
      )
    )
    const answered = (check: Effect.Effect<void, SelfCheckError>) =>
      Effect.match(check, {
        onSuccess: () => ok,
        onFailure: ({ kind, reason }): Answer => ({ status: kind === "missing" ? 404 : 500, body: reason })
      })

    const healthz = Effect.suspend(() => {
      const snapshot = status.snapshot()
      if (snapshot === undefined) return Effect.succeed(starting)
      const wanted = health(snapshot)
      if (wanted.kind === "unavailable") return Effect.succeed(unavailable(wanted.reason))
      return wanted.kind === "ok" ? Effect.succeed(ok) : answered(logged)
    })

    /** Not alive is only what a restart would mend: our socket is in place and does not answer. A missing one is put back without it. */
    const livez = Effect.suspend(() => {
      const snapshot = status.snapshot()
      if (snapshot === undefined || health(snapshot).kind !== "selfCheck") return Effect.succeed(ok)
      return Effect.map(answered(registration.selfCheck), (answer) => (answer.status === 500 ? answer : ok))
    })

    const readyz = (asJson: boolean) =>
      Effect.gen(function* () {
        const snapshot = status.snapshot()
        if (snapshot === undefined) return starting
        const { ready, reason } = readiness(snapshot)
        const fault = ready
          ? yield* Effect.match(registration.selfCheck, {
              onSuccess: () => undefined,
              onFailure: (error) => error.reason
            })
          : reason
        const code = fault === undefined ? 200 : 503
        if (!asJson) return { status: code, body: fault ?? "ok" }
        const verdict = status.lastVerdict()
        const body = {
          ready: code === 200,
          reason: fault ?? "registered",
          state: lifecycleState(snapshot),
          since: instant(status.since()),
          driver: { name: snapshot.context.driverName, connected: driverConnected(snapshot) },
          lastGetInfo: instant(status.lastGetInfo()),
          lastVerdict: verdict === undefined ? null : { ...verdict, at: instant(verdict.at) }
        }
        return { status: code, body: `${JSON.stringify(body)}\n`, type: "application/json" }
      })

    const route = (request: http.IncomingMessage): Effect.Effect<Answer> => {
      const [path, query = ""] = (request.url ?? "/").split("?", 2) as [string, string?]
      switch (decoded(path)) {
        case "/healthz":
          return healthz
        case "/livez":
          return livez
        case "/readyz":
          return readyz(
            new URLSearchParams(query).has("verbose") || (request.headers.accept ?? "").includes("application/json")
          )
        default:
          return Effect.succeed(notFound)
      }
    }

    const server = yield* Effect.acquireRelease(
      Effect.sync(() =>
        http.createServer((request, response) => {
          fork(Effect.map(route(request), (answer) => send(request, response, answer)))
        })
      ),
      (opened) =>
        Effect.callback<void>((resume) => {
          opened.close(() => resume(Effect.void))
          opened.closeAllConnections()
        })
    )
    yield* listen(server, endpoint)
  })

const instant = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())

const decoded = (path: string) => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const send = (request: http.IncomingMessage, response: http.ServerResponse, { status, body, type }: Answer) => {
  response.statusCode = status
  response.setHeader("Content-Type", type ?? "text/plain; charset=utf-8")
  if (status === 404 && body === notFound.body) response.setHeader("X-Content-Type-Options", "nosniff")
  response.setHeader("Content-Length", Buffer.byteLength(body))
  if (request.headers.connection === undefined) response.removeHeader("Connection")
  response.end(body)
}

const lookup4First = (host: string) =>
  Effect.callback<string, HttpAddressError>((resume) => {
    dns.lookup(host, { all: true, order: "ipv4first" }, (error, addresses) => {
      const [first] = addresses ?? []
      resume(
        error !== null || first === undefined
          ? Effect.fail(new HttpAddressError({ reason: `listen tcp: lookup ${host}: no such host` }))
          : Effect.succeed(first.address)
      )
    })
  })

const listen = Effect.fnUntraced(function* (server: http.Server, endpoint: string) {
  const address = parseListenAddress(endpoint)
  if ("fault" in address) return yield* new HttpAddressError({ reason: address.fault })
  const { host, port } = address
  const literal = host === undefined ? undefined : isName(host) ? yield* lookup4First(host) : host
  yield* Effect.callback<void, HttpAddressError>((resume) => {
    const shown = `${literal === undefined ? "" : literal.includes(":") ? `[${literal}]` : literal}:${port}`
    server.on("error", (error) =>
      resume(Effect.fail(new HttpAddressError({ reason: `listen tcp ${shown}: bind: ${reasonOf(error)}` })))
    )
    server.listen({ port, ...(literal === undefined ? {} : { host: literal }) }, () => resume(Effect.void))
  })
})

/** Listens at `endpoint`, an address in Go's form; does nothing when it is empty. */
export const layer = (endpoint: string): Layer.Layer<never, HttpAddressError, Klog | RegistrationServer | Status> =>
  Layer.effectDiscard(make(endpoint))
