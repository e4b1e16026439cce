/** The page that Prometheus reads. What counts and prints is a piece of its own, loaded when there is an endpoint to show it at. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import { driverConnected, lifecycleState } from "../../machine/report.ts"
import { DriverConnection } from "../driver/DriverConnection.ts"
import { Status } from "../Status.ts"
import { utf8 } from "./answer.ts"
import type { Feature } from "./routes.ts"

const headers = [["Content-Type", "text/plain; version=0.0.4; charset=utf-8"]] as const

/** One route, at `path`. Counts from now on until the scope ends, so it has to be made before the chart starts. */
export const metricsRoutes = (path: string): Feature<DriverConnection | Status | Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const status = yield* Status
    const driver = yield* DriverConnection
    const { Tally } = yield* Effect.promise(() => import("../metrics/Tally.ts"))
    const tally = new Tally()

    yield* Effect.acquireRelease(
      Effect.sync(() => [
        status.subscribe(({ before, event, after }) =>
          tally.hear({
            type: event.type,
            before: lifecycleState(before),
            after: lifecycleState(after),
            // An event without a transition leaves the very same snapshot.
            taken: before !== after,
            wasLost: before.matches({ attached: { driver: "lost" } })
          })
        ),
        driver.onCall((call) => tally.observe(call, status.snapshot()?.context.driverName ?? ""))
      ]),
      (stops) =>
        Effect.sync(() => {
          for (const stop of stops) stop()
        })
    )

    const page = Effect.sync(() => {
      const snapshot = status.snapshot()
      return tally.page({
        now: clock.currentTimeMillisUnsafe(),
        state: snapshot === undefined ? "connecting" : lifecycleState(snapshot),
        since: status.since(),
        driverConnected: snapshot !== undefined && driverConnected(snapshot),
        lastGetInfo: status.lastGetInfo(),
        lastVerdict: status.lastVerdict()?.at
      })
    })
    return new Map([[path, () => Effect.map(page, (text) => ({ status: 200 as const, headers, body: utf8(text) }))]])
  })
