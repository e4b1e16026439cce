/**
 * The program: settings in, exit code out. Composes the layers in the order they are acquired; the HTTP address is bound before anything is
 * announced. Loaded by main.ts after the fast modes.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"

import type { ProcessEvent } from "../machine/events.ts"
import { limits } from "../machine/policies.ts"
import { lastWords } from "../machine/report.ts"
import { parseCsiAddress } from "./driver/csiAddress.ts"
import { driverLayer } from "./driverLayer.ts"
import { httpAddress, type Settings } from "./flags/Flags.ts"
import * as HttpServer from "./http/HttpServer.ts"
import { Klog } from "./Klog.ts"
import * as lines from "./log/catalogue.ts"
import type { Log } from "./log/Log.ts"
import { makeRegistrar, type Registrar } from "./Registrar.ts"
import type { Request, Signals } from "./signals/Signals.ts"
import { Status } from "./Status.ts"
import * as StatusSocket from "./StatusSocket.ts"

export interface Start {
  readonly settings: Settings
  readonly log: Log
  readonly signals: Signals
  readonly exit: (code: number) => void
}

const processEvent = (request: Request): ProcessEvent =>
  request.kind === "stop" ? { type: "stop.requested", signal: request.signal } : { type: "dump.requested" }

/** A finalizer cannot be interrupted; should one hang, the process ends all the same. */
const armLastResort = (exit: Start["exit"]) => setTimeout(() => exit(1), 2 * limits.graceMs).unref()

const listenToProcess = ({ signals, exit }: Start, registrar: Registrar) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const crashed = (error: unknown) => {
        armLastResort(exit)
        registrar.send({
          type: "program.crashed",
          failure: {
            step: "running",
            cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
            advice: "this is a fault of the registrar; please report it with these lines"
          }
        })
      }
      process.on("uncaughtException", crashed)
      process.on("unhandledRejection", crashed)
      const mute = signals.listen((request) => {
        armLastResort(exit)
        registrar.send(processEvent(request))
      })
      return () => {
        mute()
        process.off("uncaughtException", crashed)
        process.off("unhandledRejection", crashed)
      }
    }),
    (stop) => Effect.sync(stop)
  )

const dump = Effect.gen(function* () {
  const log = yield* Klog
  const status = yield* Status
  log.write(lines.dumpState, {
    state: JSON.stringify(status.snapshot()?.value),
    context: JSON.stringify(status.snapshot()?.context)
  })
  for (const { at, event, before, after } of status.history()) {
    log.write(lines.dumpTransition, { at: new Date(at).toISOString(), event, before, after })
  }
})

/** Everything one registrar process needs, in the order it is acquired. */
const programLayer = ({ settings, log }: Start, socketPath: string) =>
  Layer.merge(HttpServer.layer(httpAddress(settings)), StatusSocket.layer(settings.pluginRegistrationPath)).pipe(
    Layer.provideMerge(
      driverLayer({
        socketPath,
        folder: settings.pluginRegistrationPath,
        endpoint: settings.kubeletRegistrationPath,
        callTimeoutMs: settings.callTimeoutMs
      })
    ),
    Layer.provideMerge(Layer.merge(Klog.layer(log), NodeFileSystem.layer))
  )

const live = (start: Start, socketPath: string) =>
  Effect.gen(function* () {
    const { csiAddress, connectTimeoutMs, registrationAttempts, reannounceOnDriverRestart } = start.settings
    const registrar = yield* makeRegistrar({
      csiAddress,
      address: `unix://${socketPath}`,
      policy: { connectTimeoutMs, registrationAttempts, reannounceOnDriverRestart }
    })
    yield* listenToProcess(start, registrar)
    const output = yield* registrar.outcome
    if (output.exitCode === 2) yield* dump
    return output
  })

const program = (start: Start) =>
  Effect.gen(function* () {
    const { settings, log } = start
    const address = parseCsiAddress(settings.csiAddress)
    if ("fault" in address) {
      log.write(lines.errorConnecting, { err: address.fault })
      return 1
    }
    const output = yield* Effect.scoped(live(start, address.path)).pipe(
      Effect.provide(programLayer(start, address.path))
    )
    const last = lastWords(output)
    if (last !== undefined) {
      const { values, ...line } = last
      log.write(line, values)
    }
    return output.exitCode
  }).pipe(
    Effect.catchTag("HttpAddressError", ({ reason }) =>
      Effect.sync(() => {
        start.log.write(lines.httpError, { err: reason })
        return 1
      })
    )
  )

/** Runs until the chart has ended, then calls `exit` with its code. */
export const run = (start: Start): void => {
  const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
    fiber.addObserver((exit) => teardown(exit, start.exit))
  })
  const byOutput: Runtime.Teardown = (exit, onExit) => {
    if (Exit.isFailure(exit)) start.log.write(lines.programFault, { err: String(exit.cause) })
    start.log.flush()
    onExit(Exit.isSuccess(exit) ? (exit.value as number) : 1)
  }
  runMain(program(start), { teardown: byOutput, disableErrorReporting: true })
}
