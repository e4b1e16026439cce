/**
 * The life of one driver's registration, as a statechart. Its picture is docs/statechart.svg, drawn from this file.
 *
 * Events come from the driver's connection (`driver.*`), the owner of the registration socket (`socket.*`), the registration service (`kubelet.*`)
 * and the process (`stop.requested`, `dump.requested`, `program.crashed`). Work is done by actors that live as long as the state that
 * invokes them; they report by event and never by result. Numbers are in policies.ts, what is remembered in context.ts.
 */
import type { EventObject } from "xstate"
import { assign, fromCallback, fromPromise, raise, setup } from "xstate"

import { adviceText } from "./advice.ts"
import type { Context, Failure, Input, Output } from "./context.ts"
import { initialContext, outputOf } from "./context.ts"
import type { RegistrarEvent } from "./events.ts"
import { attemptsUsedUp, dialRestMs, healRestMs, limits, refusalRestMs } from "./policies.ts"

/** What `announce` is asked to do: the first socket for a name takes over from whoever holds it, later ones never land on a live rival's. */
export interface Announcement {
  readonly driverName: string
  readonly takeOver: boolean
}

const unprovided = () => {
  throw new Error("This actor is provided by services/Registrar.ts")
}
const held = <I = undefined>() => fromCallback<EventObject, I>(unprovided)

export const registrarMachine = setup({
  types: {} as { context: Context; events: RegistrarEvent; input: Input; output: Output },
  actors: {
    /** One attempt to reach the driver and learn its name. */
    identify: held(),
    /** Tells when the connection that `identify` opened is lost. */
    watchDriver: held(),
    /** The registration service and the watch over its socket. */
    serve: held(),
    /** Puts the registration socket in place. */
    announce: held<Announcement>(),
    /** Done when everything that was opened is released. */
    drain: fromPromise<void, undefined>(unprovided)
  },
  delays: {
    connectTimeout: ({ context }) => context.policy.connectTimeoutMs,
    dialRest: ({ context }) => dialRestMs(context.failedDials),
    healRest: ({ context }) => healRestMs(context.losses),
    refusalRest: ({ context }) => refusalRestMs(context.refusals, context.refusal?.spread ?? 0),
    settled: limits.settledMs,
    quietSpell: limits.quietMs,
    verdictLimit: limits.verdictMs,
    grace: limits.graceMs
  },
  guards: {
    connectIsLimited: ({ context }) => context.policy.connectTimeoutMs > 0,
    anotherName: ({ context }, { name }: { readonly name: string }) => name !== context.driverName,
    reannounceWanted: ({ context }) => context.policy.reannounceOnDriverRestart,
    flapping: ({ context }) => context.failedDials > 0,
    lostBefore: ({ context }) => context.losses > 0,
    lastAttempt: ({ context }) => attemptsUsedUp(context.refusals, context.policy.registrationAttempts),
    refusedBefore: ({ context }) => context.refusals > 0,
    hasFailed: ({ context }) => context.failure !== undefined
  },
  actions: {
    recordObstacle: assign((_, { obstacle }: { readonly obstacle: Failure }) => ({ obstacle })),
    countFailedDial: assign(({ context }) => ({ failedDials: context.failedDials + 1 })),
    recordName: assign((_, { name }: { readonly name: string }) => ({
      driverName: name,
      obstacle: undefined
    })),
    forgetObstacle: assign({ obstacle: undefined }),
    forgetFailedDials: assign({ failedDials: 0 }),
    forgetAnnouncement: assign({ announced: false, refusals: 0, refusal: undefined }),
    recordAnnouncement: assign({ announced: true }),
    recordLoss: assign(({ context }) => ({ losses: context.losses + 1 })),
    forgetLosses: assign({ losses: 0 }),
    recordRefusal: assign(({ context }, { text, spread }: { readonly text: string; readonly spread: number }) => ({
      refusals: context.refusals + 1,
      refusal: { text, spread }
    })),
    forgetRefusals: assign({ refusals: 0, refusal: undefined }),
    /** The first one stands: what follows is its consequence, or a fault of the teardown. */
    recordFailure: assign(({ context }, { failure }: { readonly failure: Failure }) => ({
      failure: context.failure ?? failure
    })),
    recordObstacleAsFailure: assign(({ context }) => ({
      failure: context.obstacle ?? { step: "connecting" as const, cause: "context deadline exceeded", advice: "" }
    })),
    recordRefusalAsFailure: assign((_, { text }: { readonly text: string }) => ({
      failure: { step: "registering" as const, cause: text, advice: adviceText(text) }
    })),
    recordDumpRequest: assign({ dumpRequested: true }),
    reportRename: raise((_, { name }: { readonly name: string }) => ({ type: "driver.renamed" as const, name })),
    reportRestart: raise({ type: "driver.restarted" as const })
  }
}).createMachine({
  id: "registrar",
  context: ({ input }) => initialContext(input),
  output: ({ context }) => outputOf(context),
  initial: "connecting",
  states: {
    connecting: {
      description: "The driver has not told its name yet.",
      tags: "unannounced",
      after: {
        connectTimeout: { guard: "connectIsLimited", target: "stopping", actions: "recordObstacleAsFailure" }
      },
      on: {
        "driver.identified": {
          target: "attached",
          actions: { type: "recordName", params: ({ event }) => event }
        },
        "driver.rejected": { target: "stopping", actions: { type: "recordFailure", params: ({ event }) => event } },
        "stop.requested": "stopping",
        "dump.requested": { target: "stopping", actions: "recordDumpRequest" },
        "program.crashed": { target: "stopping", actions: { type: "recordFailure", params: ({ event }) => event } }
      },
      initial: "dialing",
      states: {
        dialing: {
          description: "Waiting for the driver's socket, connecting, asking GetPluginInfo.",
          invoke: { src: "identify" },
          on: {
            "driver.awaited": { actions: { type: "recordObstacle", params: ({ event }) => event } },
            "driver.unavailable": {
              target: "resting",
              actions: [{ type: "recordObstacle", params: ({ event }) => event }, "countFailedDial"]
            }
          }
        },
        resting: { description: "The last attempt failed; the next one follows.", after: { dialRest: "dialing" } }
      }
    },
    attached: {
      description: "The driver's name is known.",
      type: "parallel",
      on: {
        "socket.failed": { target: "stopping", actions: { type: "recordFailure", params: ({ event }) => event } },
        "stop.requested": "stopping",
        "dump.requested": { target: "stopping", actions: "recordDumpRequest" },
        "program.crashed": { target: "stopping", actions: { type: "recordFailure", params: ({ event }) => event } }
      },
      states: {
        driver: {
          description: "Whether the driver is there. Losing it ends no registration.",
          initial: "connected",
          states: {
            connected: {
              description: "The connection on which the driver told its name is up.",
              invoke: { src: "watchDriver" },
              after: { settled: { actions: "forgetFailedDials" } },
              on: {
                "driver.lost": [
                  { guard: "flapping", target: "lost.resting", actions: "countFailedDial" },
                  { target: "lost", actions: "countFailedDial" }
                ]
              }
            },
            lost: {
              description: "The driver went away; it is looked for without limit.",
              initial: "dialing",
              on: {
                "driver.identified": [
                  {
                    guard: { type: "anotherName", params: ({ event }) => event },
                    target: "connected",
                    actions: [
                      { type: "recordName", params: ({ event }) => event },
                      "forgetAnnouncement",
                      { type: "reportRename", params: ({ event }) => event }
                    ]
                  },
                  { guard: "reannounceWanted", target: "connected", actions: ["forgetObstacle", "reportRestart"] },
                  { target: "connected", actions: "forgetObstacle" }
                ]
              },
              states: {
                dialing: {
                  description: "Waiting for the driver's socket, connecting, asking GetPluginInfo.",
                  invoke: { src: "identify" },
                  on: {
                    "driver.awaited": { actions: { type: "recordObstacle", params: ({ event }) => event } },
                    "driver.unavailable": {
                      target: "resting",
                      actions: [{ type: "recordObstacle", params: ({ event }) => event }, "countFailedDial"]
                    },
                    "driver.rejected": {
                      target: "resting",
                      actions: [
                        { type: "recordObstacle", params: ({ event }) => ({ obstacle: event.failure }) },
                        "countFailedDial"
                      ]
                    }
                  }
                },
                resting: {
                  description: "The last attempt failed; the next one follows.",
                  after: { dialRest: "dialing" }
                }
              }
            }
          }
        },
        registration: {
          description: "The registration service runs; where its socket and the kubelet's verdict stand.",
          invoke: { src: "serve" },
          initial: "identified",
          on: { "driver.renamed": ".identified" },
          states: {
            identified: {
              id: "identified",
              description: "The name is known; the registration socket is being put in place.",
              tags: "unannounced",
              initial: "placing",
              states: {
                placing: {
                  description: "A new socket is on its way.",
                  invoke: {
                    src: "announce",
                    input: ({ context }) => ({ driverName: context.driverName, takeOver: !context.announced })
                  },
                  on: {
                    "socket.placed": { target: "#inPlace", actions: "recordAnnouncement" },
                    "socket.displaced": "#displaced",
                    "socket.blocked": { target: "resting", actions: "recordLoss" }
                  }
                },
                resting: {
                  description:
                    "The socket was lost again, or could not be made; the next one waits, so that nobody is fought.",
                  after: { healRest: "placing" }
                }
              }
            },
            inPlace: {
              id: "inPlace",
              description: "Our socket is where the kubelet looks.",
              initial: "listening",
              after: { quietSpell: { actions: "forgetLosses" } },
              on: {
                "kubelet.accepted": { target: ".registered", actions: "forgetRefusals" },
                "kubelet.refused": [
                  {
                    guard: "lastAttempt",
                    target: "#stopping",
                    actions: { type: "recordRefusalAsFailure", params: ({ event }) => event }
                  },
                  { target: ".refused", actions: { type: "recordRefusal", params: ({ event }) => event } }
                ],
                "socket.removed": [
                  { guard: "lostBefore", target: "#identified.resting", actions: "recordLoss" },
                  { target: "#identified", actions: "recordLoss" }
                ],
                "socket.displaced": "#displaced",
                "driver.restarted": [
                  { guard: "lostBefore", target: "#identified.resting", actions: "recordLoss" },
                  { target: "#identified", actions: "recordLoss" }
                ]
              },
              states: {
                listening: {
                  description: "The kubelet has not called yet.",
                  on: { "kubelet.asked": "awaitingKubelet" }
                },
                awaitingKubelet: {
                  description: "The kubelet has asked who we are; its verdict can take two minutes.",
                  after: { verdictLimit: { guard: "refusedBefore", target: "#identified" } }
                },
                registered: {
                  description: "The kubelet said yes.",
                  tags: "registered"
                },
                refused: {
                  description: "The kubelet said no; it may ask again by itself, or we announce again.",
                  on: { "kubelet.asked": "awaitingKubelet" },
                  after: { refusalRest: "#identified" }
                }
              }
            },
            displaced: {
              id: "displaced",
              description: "Another registrar of this driver holds the socket; nothing of its is touched.",
              tags: "displaced",
              on: { "socket.vacated": "#identified" }
            }
          }
        }
      }
    },
    stopping: {
      id: "stopping",
      description: "Open calls are answered, everything that was opened is released.",
      tags: "unannounced",
      invoke: {
        src: "drain",
        onDone: [{ guard: "hasFailed", target: "failed" }, { target: "stopped" }]
      },
      after: { grace: [{ guard: "hasFailed", target: "failed" }, { target: "stopped" }] },
      on: {
        "socket.stranded": { actions: { type: "recordFailure", params: ({ event }) => event } },
        "program.crashed": { actions: { type: "recordFailure", params: ({ event }) => event } }
      }
    },
    stopped: { description: "Asked to stop, and did.", type: "final" },
    failed: { description: "Gave up, with the cause and what to do about it.", type: "final" }
  }
})
