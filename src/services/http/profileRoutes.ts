/** The routes of `--enable-pprof`. What takes and writes profiles is a piece of its own, and so is the inspector of node; both are loaded with the flag only. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import { Klog } from "../Klog.ts"
import * as lines from "../log/catalogue.ts"
import type { Feature } from "./routes.ts"

/** Those below `/debug/pprof/`. Live allocations are sampled from now on until the scope ends. */
export const profileRoutes = (endpoint: string): Feature<Klog | Scope.Scope> =>
  Effect.gen(function* () {
    const log = yield* Klog
    log.write(lines.startingProfiling, { endpoint })
    const { makePprofRoutes } = yield* Effect.promise(() => import("./pprof/pprofRoutes.ts"))
    return yield* makePprofRoutes
  })
