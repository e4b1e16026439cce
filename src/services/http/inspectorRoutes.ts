/** The routes of `--enable-inspector`. What stands behind them is loaded when one of them is first asked for; until then, entries are kept with their details. */
import * as Effect from "effect/Effect"

import { Status } from "../Status.ts"
import type { Feature, Routes } from "./routes.ts"

const routes = (status: Status["Service"]): Routes => {
  status.keepDetails()
  const load = async () => (await import("../inspector/Inspector.ts")).makeInspector(status)
  let loaded: ReturnType<typeof load> | undefined
  const inspector = Effect.promise(() => {
    loaded ??= load()
    return loaded
  })
  return new Map([
    ["/debug/machine", () => Effect.map(inspector, ({ page }) => page())],
    ["/debug/machine/events", () => Effect.map(inspector, ({ events }) => events())],
    ["/debug/machine/events.ndjson", () => Effect.map(inspector, ({ file }) => file())]
  ])
}

/** The page at `/debug/machine`, and below it the events as a stream and as a file. */
export const inspectorRoutes: Feature<Status> = Effect.map(Status, routes)
