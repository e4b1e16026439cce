/**
 * What each path answers. `/healthz` has upstream's statuses and bodies, `/livez` and `/readyz` are ours. All of it is read off the status of the chart
 * and a look at our own socket; no route changes anything.
 */
import type { Socket } from "node:net"

import * as Effect from "effect/Effect"

import { driverConnected, health, lifecycleState, readiness } from "../../machine/report.ts"
import { Klog } from "../Klog.ts"
import * as lines from "../log/catalogue.ts"
import { RegistrationServer } from "../registration/RegistrationServer.ts"
import type { SelfCheckError } from "../registration/selfCheck.ts"
import { Status } from "../Status.ts"
import { type Answer, utf8 } from "./answer.ts"
import type { Request } from "./request.ts"

/** What takes long looks at the connection, whether there still is somebody who waits. */
export type Route = (request: Request, connection: Socket) => Effect.Effect<Answer>
/** By exact path, for any method. */
export type Routes = ReadonlyMap<string, Route>
/** What adds its routes to those here. Made where there is an endpoint, before anything is announced; lasts until the scope ends. */
export type Feature<R = never> = Effect.Effect<Routes, never, R>

export const text = (status: Answer["status"], body: string): Answer => ({ status, body: utf8(body) })
const ok = text(200, "ok")
const unavailable = (reason: string) => text(503, reason)
const startingReason = "connecting: the registrar is starting"
const json = [["Content-Type", "application/json"]] as const

export const makeRoutes: Effect.Effect<Routes, never, Klog | RegistrationServer | Status> = Effect.gen(function* () {
  const log = yield* Klog
  const status = yield* Status
  const registration = yield* RegistrationServer

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
      onFailure: ({ kind, reason }) => text(kind === "missing" ? 404 : 500, reason)
    })

  const healthz = Effect.suspend(() => {
    const snapshot = status.snapshot()
    if (snapshot === undefined) return Effect.succeed(unavailable(startingReason))
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
      const { ready, reason } = snapshot === undefined ? { ready: false, reason: startingReason } : readiness(snapshot)
      const fault = ready
        ? yield* Effect.match(registration.selfCheck, {
            onSuccess: () => undefined,
            onFailure: (error) => error.reason
          })
        : reason
      const code = fault === undefined ? 200 : 503
      if (!asJson) return text(code, fault ?? "ok")
      const verdict = status.lastVerdict()
      const body = {
        ready: code === 200,
        reason: fault ?? "registered",
        state: snapshot === undefined ? "connecting" : lifecycleState(snapshot),
        since: instant(status.since()),
        driver: {
          name: snapshot?.context.driverName ?? "",
          connected: snapshot !== undefined && driverConnected(snapshot)
        },
        lastGetInfo: instant(status.lastGetInfo()),
        lastVerdict: verdict === undefined ? null : { ...verdict, at: instant(verdict.at) }
      }
      return { ...text(code, `${JSON.stringify(body)}\n`), headers: json }
    })

  return new Map<string, Route>([
    ["/healthz", () => healthz],
    ["/livez", () => livez],
    ["/readyz", (request) => readyz(wantsJson(request))]
  ])
})

const wantsJson = ({ target, headers }: Request) =>
  new URLSearchParams(target.query).has("verbose") || (headers.accept ?? "").includes("application/json")

const instant = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())
