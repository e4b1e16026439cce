/** A world on which something has to happen: waits that tell what they wait for, and fail with what was seen instead. */
import { lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"

import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

import { type Journal, NotSeenError } from "./Journal.ts"
import type { KubeletEvent } from "./kubelet/events.ts"
import { describeExit, type Exit, type RegistrarProcess } from "./RegistrarProcess.ts"
import { driverName, type World } from "./World.ts"

/** What did not happen, and what did. */
export class NotAsToldError extends Data.TaggedError("NotAsToldError")<{
  readonly expected: string
  readonly seen: string
}> {
  override get message() {
    return `expected ${this.expected}; seen: ${this.seen}`
  }
}

/** Everything here takes two ticks of the kubelet at most, and a back-off of 1.2 s. */
const limitMs = 10_000
/** How long a person at a terminal gets to read a step. */
const readingMs = 1_500

export class Stage {
  readonly world: World
  readonly #crashed = Deferred.makeUnsafe<never, NotAsToldError>()
  #expecting = "the registrar to start"

  constructor(world: World) {
    this.world = world
  }

  /** What is waited for, in a few words. */
  get expecting(): string {
    return this.#expecting
  }

  get socketPath(): string {
    return join(this.world.registry, `${driverName}-reg.sock`)
  }

  /** Identity of the registration socket; undefined when there is none. */
  socketIdentity(): string | undefined {
    const stats = lstatSync(this.socketPath, { bigint: true, throwIfNoEntry: false })
    return stats === undefined ? undefined : `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`
  }

  /** What lies in the kubelet's folder, dot-names included. */
  entries(): ReadonlyArray<string> {
    return readdirSync(this.world.registry)
  }

  /** The registration sockets that lie there: none, or one. */
  sockets(): ReadonlyArray<string> {
    const names = this.entries().filter((name) => name.endsWith("-reg.sock"))
    return names.map((name) => join(this.world.registry, name))
  }

  /** Tells what is done to the registrar. */
  says(text: string): void {
    this.world.screen.event("world", text)
  }

  /** The first match from `from` on. */
  sees<A>(
    journal: Journal<A>,
    what: string,
    matches: (item: A) => boolean,
    from = 0
  ): Effect.Effect<A, NotAsToldError> {
    return Effect.suspend(() => {
      this.#expecting = what
      this.world.screen.refresh()
      return Effect.tryPromise({
        try: (signal) => journal.waitFor(what, matches, { from, limitMs, signal }),
        catch: (error) =>
          new NotAsToldError({
            expected: what,
            seen: error instanceof NotSeenError ? [error.reason, ...error.seen].join("\n") : String(error)
          })
      })
    })
  }

  seesKubelet(type: KubeletEvent["type"], what: string, from: number): Effect.Effect<KubeletEvent, NotAsToldError> {
    return this.sees(this.world.kubelet.events, what, (event) => event.type === type, from)
  }

  seesLog({ log }: RegistrarProcess, what: string, text: string, from: number): Effect.Effect<unknown, NotAsToldError> {
    return this.sees(log, what, (line) => line.text.includes(text), from)
  }

  /** A state that is left within a few milliseconds may never be seen. */
  seesState(registrar: RegistrarProcess, state: string, from: number): Effect.Effect<unknown, NotAsToldError> {
    return this.sees(registrar.states, `the ${registrar.label} to be ${state}`, (seen) => seen.state === state, from)
  }

  checks(expected: string, holds: boolean, seen: string): Effect.Effect<void, NotAsToldError> {
    return holds ? Effect.void : Effect.fail(new NotAsToldError({ expected, seen }))
  }

  /** A registrar that ends unasked ends the step too: see `crashed`. */
  starts(label: "registrar" | "second"): Effect.Effect<RegistrarProcess> {
    return Effect.tap(this.world.startRegistrar(label), (registrar) =>
      Effect.sync(
        () =>
          void registrar.exited.then(
            (exit) => this.#ended(registrar, exit),
            () => {}
          )
      )
    )
  }

  /** Fails when a registrar ends that nobody has asked to. */
  get crashed(): Effect.Effect<never, NotAsToldError> {
    return Deferred.await(this.#crashed)
  }

  #ended({ label, log, wasAskedToStop }: RegistrarProcess, exit: Exit): void {
    if (wasAskedToStop) return
    const lastLine = log.all.at(-1)?.text ?? "none"
    const seen = `the ${label} has ended (${describeExit(exit)})\nits last line: ${lastLine}`
    Deferred.doneUnsafe(this.#crashed, Effect.fail(new NotAsToldError({ expected: this.#expecting, seen })))
  }

  /** Time to read, for a person. */
  get pause(): Effect.Effect<void> {
    return this.world.screen.isTerminal ? Effect.sleep(readingMs) : Effect.void
  }
}
