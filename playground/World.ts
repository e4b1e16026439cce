/**
 * A node in a temporary folder: a driver, a kubelet and any number of registrars, and a screen that tells what they do. The scope's end stops them and
 * removes the folder.
 */
import * as fs from "node:fs"
import { join } from "node:path"

import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"

import { tempFolder } from "../test/fakes/tempFolder.ts"
import { Driver } from "./Driver.ts"
import { describe } from "./kubelet/events.ts"
import { Kubelet } from "./kubelet/Kubelet.ts"
import { isInteresting } from "./logLine.ts"
import { describeExit, type RegistrarProcess, startRegistrar } from "./RegistrarProcess.ts"
import type { Screen } from "./Screen.ts"

export const driverName = "demo.example.org"
export const nodeId = "node-1"
/** A kubelet looks at its sockets once a second; this one is watched by a person. */
const tickMs = 300
/** sockaddr_un holds 108 bytes with the terminating zero, and what is longer is cut in silence. */
const maxSocketPathBytes = 107

/** A socket in the temporary folder would have no legal path. */
export class FolderTooDeepError extends Data.TaggedError("FolderTooDeepError")<{ readonly longest: string }> {
  override get message() {
    return `${this.longest} has more than ${maxSocketPathBytes} bytes, the limit of a socket path; let TMPDIR name a shorter folder`
  }
}

export interface WorldSettings {
  readonly screen: Screen
  readonly bundle: string
  /** Socket of a driver that is not ours. */
  readonly externalDriver?: string | undefined
}

export interface World {
  readonly folder: string
  readonly registry: string
  readonly screen: Screen
  readonly csiAddress: string
  /** Undefined when the driver is not ours. */
  readonly driver: Driver | undefined
  readonly kubelet: Kubelet
  /** Those that run or have run, oldest first. */
  readonly registrars: ReadonlyArray<RegistrarProcess>
  /** Runs until it is stopped, or the world ends. */
  readonly startRegistrar: (label: "registrar" | "second") => Effect.Effect<RegistrarProcess>
}

export const makeWorld = ({
  screen,
  bundle,
  externalDriver
}: WorldSettings): Effect.Effect<World, FolderTooDeepError, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Scope.Scope
    const folder = yield* tempFolder
    yield* removeOnCrash(folder)
    const registry = join(folder, "plugins_registry")
    const plugins = join(folder, "plugins", driverName)
    const socketPath = join(plugins, "csi.sock")
    const longest = join(registry, `${driverName}-reg.sock`)
    if (Buffer.byteLength(longest) > maxSocketPathBytes) {
      return yield* new FolderTooDeepError({ longest })
    }
    fs.mkdirSync(registry)
    fs.mkdirSync(plugins, { recursive: true })
    screen.abbreviate(folder)

    const kubelet = yield* Effect.acquireRelease(
      Effect.sync(() => new Kubelet(registry, { tickMs })),
      (opened) => Effect.sync(() => opened.stop())
    )
    const mute = kubelet.events.onAdd((event) => screen.event("kubelet", describe(event)))
    yield* Effect.addFinalizer(() => Effect.sync(mute))
    const driver =
      externalDriver === undefined
        ? yield* Effect.acquireRelease(
            Effect.sync(() => new Driver(socketPath, driverName, nodeId)),
            (opened) => Effect.sync(() => opened.down())
          )
        : undefined
    driver?.calls.onAdd((call) => screen.event("driver", `is asked ${call}`))

    const csiAddress = externalDriver ?? socketPath
    const registrars: Array<RegistrarProcess> = []
    return {
      folder,
      registry,
      screen,
      csiAddress,
      driver,
      kubelet,
      registrars,
      startRegistrar: (label) =>
        startRegistrar({ label, bundle, csiAddress, registry }).pipe(
          Scope.provide(scope),
          Effect.tap((registrar) =>
            Effect.sync(() => {
              registrars.push(registrar)
              narrate(screen, label, registrar)
            })
          )
        )
    }
  })

/** Finalizers do not run when the program itself has a fault. */
const removeOnCrash = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const remove = () => fs.rmSync(folder, { recursive: true, force: true })
      process.once("exit", remove)
      return remove
    }),
    (remove) => Effect.sync(() => process.off("exit", remove))
  )

const narrate = (screen: Screen, label: "registrar" | "second", registrar: RegistrarProcess): void => {
  screen.event(label, `starts as process ${registrar.pid}`)
  registrar.states.onAdd(({ state }) => screen.event(label, `is ${screen.style("bold", state)}`))
  registrar.log.onAdd((line) => {
    if (!isInteresting(line)) return
    screen.event("log", label === "second" ? `(second) ${line.text}` : line.text)
  })
  void registrar.exited.then(
    (exit) => screen.event(label, `process ${registrar.pid}: ${describeExit(exit)}`),
    (error) => screen.event(label, `cannot be started: ${error}`)
  )
}
