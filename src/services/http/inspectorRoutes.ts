/** The routes of `--enable-inspector`. What stands behind them is a piece of its own. */
import * as Effect from "effect/Effect"

import { Status } from "../Status.ts"
import type { Feature, Route } from "./routes.ts"

/** The page at `/debug/machine`, and below it the events as a stream and as a file. From now on entries are kept with their details. */
export const inspectorRoutes: Feature<Status> = Effect.gen(function* () {
  const status = yield* Status
  status.keepDetails()
  // Not when it is first asked for: by then V8's flags are others, and it would refuse the piece's code cache, with a complaint in the log.
  const { makeInspector } = yield* Effect.promise(() => import("../inspector/Inspector.ts"))
  const { page, events, file } = makeInspector(status)
  return new Map<string, Route>([
    ["/debug/machine", () => Effect.sync(page)],
    ["/debug/machine/events", () => Effect.sync(events)],
    ["/debug/machine/events.ndjson", () => Effect.sync(file)]
  ])
})
