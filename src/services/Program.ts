/**
 * The program: settings in, exit code out. Composes the layers in the order they are acquired; the HTTP address is bound before anything is
 * announced. Loaded by main.ts after the fast modes.
 */
import * as v8 from "node:v8"

import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { InspectionEvent } from "xstate"

import type { ProcessEvent } from "../machine/events.ts"
import { limits } from "../machine/policies.ts"
import { lastWords, lifecycleState } from "../machine/report.ts"
import { parseCsiAddress } from "./driver/csiAddress.ts"
import type { DriverConnection } from "./driver/DriverConnection.ts"
import { driverLayer } from "./driverLayer.ts"
import { httpAddress, type Settings } from "./flags/Flags.ts"
import { giveBackMemory } from "./giveBackMemory.ts"
import * as HttpServer from "./http/HttpServer.ts"
import { inspectorRoutes } from "./http/inspectorRoutes.ts"
import { metricsRoutes } from "./http/metricsRoutes.ts"
import { profileRoutes } from "./http/profileRoutes.ts"
import type { Feature } from "./http/routes.ts"
import { Klog } from "./Klog.ts"
import * as lines from "./log/catalogue.ts"
import type { Line, Log } from "./log/Log.ts"
import { crashOf, makeRegistrar, type Registrar } from "./Registrar.ts"
import type { Request, Signals } from "./signals/Signals.ts"
import { Status } from "./Status.ts"
import * as StatusSocket from "./StatusSocket.ts"
import { terminationMessage, writeTerminationLog } from "./terminationLog.ts"

export interface Start {
  readonly settings: Settings
  readonly log: Log
  readonly signals: Signals
  readonly exit: (code: number) => void
  /** Hears everything xstate tells an inspector about the chart; in development only. */
  readonly inspect?: (event: InspectionEvent) => void
}

const processEvent = (request: Request): ProcessEvent =>
  request.kind === "stop" ? { type: "stop.requested", signal: request.signal } : { type: "dump.requested" }

/** A finalizer cannot be interrupted; should one hang, the process ends all the same. */
const armLastResort = (exit: Start["exit"], code: number) => setTimeout(() => exit(code), 2 * limits.graceMs).unref()

const listenToProcess = Effect.fnUntraced(function* ({ signals, exit, log }: Start, registrar: Registrar) {
  const status = yield* Status
  return yield* Effect.acquireRelease(
    Effect.sync(() => {
      const crashed = (error: unknown) => {
        armLastResort(exit, 1)
        registrar.send({ type: "program.crashed", failure: crashOf(error) })
      }
      process.on("uncaughtException", crashed)
      process.on("unhandledRejection", crashed)
      const mute = signals.listen((request) => {
        armLastResort(exit, 1)
        if (request.kind === "dump") dump(log, status)
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
})

/** Where the chart stands and how it came there, before anything is torn down. */
const dump = (log: Log, status: Status["Service"]) => {
  const snapshot = status.snapshot()
  log.write(lines.dumpState, {
    state: snapshot === undefined ? "" : lifecycleState(snapshot),
    value: JSON.stringify(snapshot?.value),
    context: JSON.stringify(snapshot?.context)
  })
  for (const { at, event, before, after } of status.history()) {
    log.write(lines.dumpTransition, { at: new Date(at).toISOString(), event, before, after })
  }
}

/**
 * V8 collects sooner while the heap grows: half the height of a crowd of callers. Its own look for memory to give back is `giveBackMemory`'s business. Only when
 * all is loaded, since code caches are keyed by V8's flags.
 */
const frugal = ["--heap-growing-percent=10", "--no-memory-reducer"]

/** What the HTTP endpoint serves beside health. */
const features = (settings: Settings): ReadonlyArray<Feature<DriverConnection | Klog | Scope.Scope | Status>> => [
  metricsRoutes(settings.metricsPath),
  ...(settings.enableInspector ? [inspectorRoutes] : []),
  ...(settings.enablePprof ? [profileRoutes(httpAddress(settings))] : [])
]

/** Everything one registrar process needs, in the order it is acquired. */
const programLayer = ({ settings, log }: Start, socketPath: string) =>
  Layer.merge(
    HttpServer.layer(httpAddress(settings), features(settings)),
    StatusSocket.layer(settings.pluginRegistrationPath)
  ).pipe(
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
      registrationFolder: start.settings.pluginRegistrationPath,
      policy: { connectTimeoutMs, registrationAttempts, reannounceOnDriverRestart },
      ...(start.inspect === undefined ? {} : { inspect: start.inspect })
    })
    yield* listenToProcess(start, registrar)
    for (const flag of frugal) v8.setFlagsFromString(flag)
    yield* Effect.forkScoped(giveBackMemory())
    const output = yield* registrar.outcome
    armLastResort(start.exit, output.exitCode)
    const last = lastWords(output)
    if (last !== undefined)
      writeTerminationLog(terminationMessage({ line: last, values: last.values }, (yield* Status).history()))
    return output
  })

/** What ends the process though the chart did not: the last line of the log, and the message of the container. */
const lastLine = (log: Log, line: Line, err: string) => {
  writeTerminationLog(terminationMessage({ line, values: { err } }))
  log.write(line, { err })
}

/** Ends when the process is asked to stop while the layers are being built: the chart does not listen yet. */
const stopBefore = (signals: Signals) =>
  Effect.callback<"stop">((resume) => {
    const mute = signals.listen(({ kind }) => {
      if (kind === "stop") resume(Effect.succeed("stop"))
    })
    return Effect.sync(mute)
  })

const program = (start: Start) =>
  Effect.gen(function* () {
    const { settings, log } = start
    const address = parseCsiAddress(settings.csiAddress)
    if ("fault" in address) {
      lastLine(log, lines.errorConnecting, address.fault)
      return 1
    }
    const services = yield* Effect.raceFirst(Layer.build(programLayer(start, address.path)), stopBefore(start.signals))
    if (services === "stop") return 0
    const output = yield* Effect.provideContext(live(start, address.path), services)
    const last = lastWords(output)
    if (last !== undefined) log.write(last, last.values)
    return output.exitCode
  }).pipe(
    Effect.scoped,
    Effect.catchTag("HttpAddressError", ({ reason }) =>
      Effect.sync(() => {
        lastLine(start.log, lines.httpError, reason)
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
    if (Exit.isFailure(exit)) lastLine(start.log, lines.programFault, String(exit.cause))
    start.log.flush()
    onExit(Exit.isSuccess(exit) ? (exit.value as number) : 1)
  }
  runMain(program(start), { teardown: byOutput, disableErrorReporting: true })
}
