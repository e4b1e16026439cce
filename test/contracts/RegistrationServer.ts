/**
 * What every RegistrationServer keeps, the real one and the fake that stands in for it in the model tests. A world gives the layer, and buttons
 * for the kubelet and for whoever else has a hand in the folder.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

import type { KubeletEvent, SocketEvent } from "../../src/machine/events.ts"
import { RegistrationServer } from "../../src/services/registration/RegistrationServer.ts"

export interface RegistrationWorld {
  readonly layer: Layer.Layer<RegistrationServer>
  readonly kubeletAsks: Effect.Effect<void>
  readonly kubeletAccepts: Effect.Effect<void>
  readonly kubeletRefuses: (text: string) => Effect.Effect<void>
  /** Lets the announcement that runs go on, where a fake has to be told. */
  readonly proceeds: Effect.Effect<void>
  readonly socketIsRemoved: Effect.Effect<void>
  /** Another live registrar puts its socket there, over ours or into the gap. */
  readonly rivalComes: Effect.Effect<void>
  readonly rivalLeaves: Effect.Effect<void>
  readonly folderIsLost: Effect.Effect<void>
}

interface Serving {
  readonly world: RegistrationWorld
  readonly server: RegistrationServer["Service"]
  readonly next: Effect.Effect<KubeletEvent | SocketEvent>
  readonly announce: (takeOver: boolean) => ReturnType<RegistrationServer["Service"]["announce"]>
}

const driverName = "a.example.com"

export const suite = (name: string, makeWorld: Effect.Effect<RegistrationWorld, never, Scope.Scope>) =>
  describe(name, () => {
    const check = (claim: string, body: (serving: Serving) => Effect.Effect<void, unknown, Scope.Scope>) =>
      it.live(claim, () =>
        Effect.gen(function* () {
          const world = yield* makeWorld
          yield* Effect.scoped(
            Effect.gen(function* () {
              const server = yield* RegistrationServer
              const events = yield* Queue.unbounded<KubeletEvent | SocketEvent>()
              yield* server.serve((event) => Queue.offerUnsafe(events, event))
              const announce = Effect.fnUntraced(function* (takeOver: boolean) {
                const running = yield* Effect.forkScoped(server.announce({ driverName, takeOver }), {
                  startImmediately: true
                })
                yield* world.proceeds
                return yield* Fiber.join(running)
              }, Effect.scoped)
              yield* body({ world, server, next: Queue.take(events), announce })
            })
          ).pipe(Effect.provide(world.layer))
        })
      )

    check("puts a socket in place and hears the kubelet ask and accept", ({ world, announce, next }) =>
      Effect.gen(function* () {
        const { path, tookOver } = yield* announce(true)
        assert.match(path, /\/a\.example\.com-reg\.sock$/)
        assert.isFalse(tookOver)
        yield* world.kubeletAsks
        assert.strictEqual((yield* next).type, "kubelet.asked")
        yield* world.kubeletAccepts
        assert.strictEqual((yield* next).type, "kubelet.accepted")
      })
    )

    check("hears a refusal with the kubelet's text and a spread within its bounds", ({ world, announce, next }) =>
      Effect.gen(function* () {
        yield* announce(true)
        yield* world.kubeletRefuses("no such node")
        const event = yield* next
        assert.strictEqual(event.type, "kubelet.refused")
        if (event.type !== "kubelet.refused") return
        assert.strictEqual(event.text, "no such node")
        assert.isAtMost(Math.abs(event.spread), 1)
      })
    )

    check("tells when the socket is removed, and puts a new one in place", ({ world, announce, next }) =>
      Effect.gen(function* () {
        yield* announce(true)
        yield* world.socketIsRemoved
        assert.strictEqual((yield* next).type, "socket.removed")
        yield* announce(false)
        yield* world.kubeletAsks
        assert.strictEqual((yield* next).type, "kubelet.asked")
      })
    )

    check("announces again without being lost", ({ world, announce, next }) =>
      Effect.gen(function* () {
        yield* announce(true)
        yield* announce(false)
        yield* world.kubeletAsks
        assert.strictEqual((yield* next).type, "kubelet.asked")
      })
    )

    check("tells when another registrar displaces it, and when that one has left", ({ world, announce, next }) =>
      Effect.gen(function* () {
        yield* announce(true)
        yield* world.rivalComes
        assert.strictEqual((yield* next).type, "socket.displaced")
        yield* world.rivalLeaves
        assert.strictEqual((yield* next).type, "socket.vacated")
        yield* announce(false)
      })
    )

    check("never heals over a live rival, and hears when it leaves", ({ world, announce, next }) =>
      Effect.gen(function* () {
        yield* world.rivalComes
        const error = yield* Effect.flip(announce(false))
        assert.strictEqual(error._tag, "DisplacedError")
        yield* world.rivalLeaves
        assert.strictEqual((yield* next).type, "socket.vacated")
      })
    )

    check("takes over from a live rival when it is the newest, and says so", ({ world, announce }) =>
      Effect.gen(function* () {
        yield* world.rivalComes
        assert.isTrue((yield* announce(true)).tookOver)
      })
    )

    check("cannot announce without its folder", ({ world, announce }) =>
      Effect.gen(function* () {
        yield* world.folderIsLost
        const error = yield* Effect.flip(announce(true))
        assert.strictEqual(error._tag, "SocketUnavailableError")
      })
    )
  })
