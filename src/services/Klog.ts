/** The light half's log as a service, so that whatever logs can be given another one. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

import type { Log } from "./log/Log.ts"

export class Klog extends Context.Service<Klog, Log>()("registrar/services/Klog") {
  static readonly layer = (log: Log) => Layer.succeed(Klog, log)
}
