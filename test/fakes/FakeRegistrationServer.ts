/** A registration folder and a kubelet with buttons, and the layer that gives them to a registrar. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { Failure } from "../../src/machine/context.ts"
import type { KubeletEvent, SocketEvent } from "../../src/machine/events.ts"
import type { Announcement } from "../../src/machine/registrar.ts"
import {
  DisplacedError,
  type Placement,
  SocketBlockedError,
  SocketUnavailableError
} from "../../src/services/registration/heldSocket.ts"
import { RegistrationServer } from "../../src/services/registration/RegistrationServer.ts"
import type { Gate } from "./Gate.ts"

type Attempt = {
  readonly announcement: Announcement
  readonly answer: Deferred.Deferred<Placement, DisplacedError | SocketBlockedError | SocketUnavailableError>
}

export const makeFakeRegistrationServer = (gate: Gate) => {
  let send: ((event: KubeletEvent | SocketEvent) => void) | undefined
  let attempt: Attempt | undefined
  let stranded: Failure | undefined
  const announcements: Array<Announcement> = []
  const waiting = () => {
    if (attempt === undefined) throw new Error("nothing is being announced")
    return attempt.answer
  }
  const tell = (event: KubeletEvent | SocketEvent) => {
    if (send === undefined) throw new Error("nobody serves")
    send(event)
  }

  return {
    layer: Layer.succeed(RegistrationServer, {
      serve: (listener) =>
        Effect.suspend(() => {
          send = listener
          return gate.holdScoped(() => {
            send = undefined
          })
        }),
      announce: (announcement) =>
        gate.hold(
          Effect.suspend(() => {
            announcements.push(announcement)
            const answer = Deferred.makeUnsafe<
              Placement,
              DisplacedError | SocketBlockedError | SocketUnavailableError
            >()
            attempt = { announcement, answer }
            return Deferred.await(answer)
          }),
          () => {
            if (attempt?.announcement === announcement) attempt = undefined
          }
        ),
      stranded: () => stranded,
      selfCheck: Effect.void
    }),
    announcements: announcements as ReadonlyArray<Announcement>,
    isAnnouncing: () => attempt !== undefined,
    place: (placement: Placement) => Deferred.doneUnsafe(waiting(), Effect.succeed(placement)),
    findRival: () =>
      Deferred.doneUnsafe(waiting(), Effect.fail(new DisplacedError({ path: "/registration/x-reg.sock" }))),
    breakFolder: (failure: Failure) =>
      Deferred.doneUnsafe(waiting(), Effect.fail(new SocketUnavailableError({ failure }))),
    block: (obstacle: Failure) => Deferred.doneUnsafe(waiting(), Effect.fail(new SocketBlockedError({ obstacle }))),
    /** Our socket cannot be removed at the end. */
    strand: (failure: Failure) => {
      stranded = failure
    },
    tell
  }
}
