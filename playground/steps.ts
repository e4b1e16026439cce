/** The story's steps, in order: what is done to the registrar, what has to come of it, and what it means. */
import { rmSync } from "node:fs"

import * as Effect from "effect/Effect"

import { describeExit, type RegistrarProcess } from "./RegistrarProcess.ts"
import type { NotAsToldError, Stage } from "./Stage.ts"
import { driverName, nodeId } from "./World.ts"

export interface Step {
  readonly title: string
  /** Fails when it does not happen; succeeds with what was measured. `registrar` is the first one. */
  readonly happens: (stage: Stage, registrar: RegistrarProcess) => Effect.Effect<string, NotAsToldError>
  readonly cluster: string
  readonly upstream: string
}

const since = (start: number) => `${Math.round(performance.now() - start)} ms`

export const driverComesLate: Step = {
  title: "The driver comes late",
  happens: Effect.fnUntraced(function* (stage, registrar) {
    yield* stage.seesState(registrar, "connecting", 0)
    yield* stage.sees(registrar.log, "a log line that names what is missing", ({ text }) =>
      /Waiting for the CSI driver.*does not exist/.test(text)
    )
    yield* stage.pause
    const kubelet = stage.world.kubelet.events.mark()
    const start = performance.now()
    stage.says("the driver starts")
    yield* Effect.promise(async () => stage.world.driver?.up())
    yield* stage.seesKubelet("registered", "the kubelet to register the driver", kubelet)
    yield* stage.seesState(registrar, "registered", 0)
    const { csiNode } = stage.world.kubelet
    yield* stage.checks(
      `${driverName} in the CSINode`,
      csiNode.get(driverName) === nodeId,
      [...csiNode.keys()].join(" ")
    )
    return `registered ${since(start)} after the driver came`
  }),
  cluster: `CSINode ${nodeId} gains ${driverName}; the pod has not restarted, its log has said all along what it waits for.`,
  upstream: "exits 1 after 30 s without a driver, and again after each restart, at the intervals of CrashLoopBackOff."
}

export const kubeletRestarts: Step = {
  title: "The kubelet restarts",
  happens: Effect.fnUntraced(function* (stage, registrar) {
    const { kubelet } = stage.world
    const socket = stage.socketIdentity()
    const from = kubelet.events.mark()
    const start = performance.now()
    stage.says("the kubelet restarts")
    kubelet.restart()
    yield* stage.seesKubelet("registered", "the new kubelet to register the driver", from)
    const took = since(start)
    yield* stage.checks("the same socket as before", stage.socketIdentity() === socket, "another socket")
    yield* stage.checks(
      "the registrar to be registered still",
      registrar.state?.state === "registered",
      registrar.state?.state ?? ""
    )
    return `registered again after ${took}, by the same process, through the same socket`
  }),
  cluster: "nothing at all; the new kubelet knows the driver before its first pod needs a volume.",
  upstream: "the same: a kubelet finds the socket that lies there."
}

export const socketIsDeleted: Step = {
  title: "Somebody deletes the registration socket",
  happens: Effect.fnUntraced(function* (stage, registrar) {
    const socket = stage.socketIdentity()
    const kubelet = stage.world.kubelet.events.mark()
    const log = registrar.log.mark()
    const start = performance.now()
    stage.says(`somebody deletes ${stage.socketPath}`)
    rmSync(stage.socketPath)
    yield* stage.seesLog(registrar, "the registrar to notice", "Registration socket was removed", log)
    const noticed = since(start)
    yield* stage.seesKubelet("deregistered", "the kubelet to unregister what was there", kubelet)
    yield* stage.seesKubelet("registered", "the kubelet to register the driver through a new socket", kubelet)
    const healed = stage.socketIdentity()
    yield* stage.checks("a new socket", healed !== undefined && healed !== socket, healed ?? "no socket")
    return `noticed after ${noticed}, registered again after ${since(start)}`
  }),
  cluster: "CSINode loses the driver for a second or two and has it again; the pod has not restarted.",
  upstream:
    "a removed socket never comes back: the pod stays Ready, volumes fail until somebody restarts it, or a liveness probe does."
}

export const kubeletRefuses: Step = {
  title: "The kubelet refuses once",
  happens: Effect.fnUntraced(function* (stage, registrar) {
    const { kubelet } = stage.world
    const from = kubelet.events.mark()
    const log = registrar.log.mark()
    stage.says("the kubelet restarts, and its call to the driver will fail once")
    kubelet.refuseOnce("rpc error: code = Unavailable desc = the driver is still mounting its cache")
    kubelet.restart()
    const refusal = yield* stage.seesKubelet("refused", "the kubelet to refuse", from)
    yield* stage.checks("an answer to the refusal", refusal.type === "refused" && refusal.delivered, "none")
    const start = performance.now()
    yield* stage.seesLog(registrar, "the registrar to log the refusal", "Registration was refused", log)
    yield* stage.seesKubelet("registered", "the kubelet to register the driver after all", from)
    yield* stage.seesLog(registrar, "the registrar to log the acceptance", "Registered with the kubelet", log)
    return `answered, and registered ${since(start)} later, by the same process`
  }),
  cluster:
    "CSINode loses the driver and has it again after the back-off; the log says whose fault it was; the pod has not restarted.",
  upstream:
    "exits 1 within the call: the kubelet gets no answer, the socket is left behind, the pod goes into CrashLoopBackOff."
}

export const secondTakesOver: Step = {
  title: "A second registrar of the same driver takes over, then leaves",
  happens: Effect.fnUntraced(function* (stage, registrar) {
    const states = registrar.states.mark()
    stage.says("an update with surge: the new pod's registrar starts beside the old one")
    const second = yield* stage.starts("second")
    yield* stage.seesState(registrar, "displaced", states)
    yield* stage.seesState(second, "registered", 0)
    yield* stage.pause
    const back = registrar.states.mark()
    const kubelet = stage.world.kubelet.events.mark()
    const start = performance.now()
    stage.says("the second one is told to leave: SIGTERM")
    const exit = yield* Effect.promise(() => second.stop())
    yield* stage.checks("the second registrar to end with exit 0", exit.code === 0, describeExit(exit))
    yield* stage.seesKubelet("registered", "the kubelet to register the first one again", kubelet)
    yield* stage.seesState(registrar, "registered", back)
    return `the first was registered again ${since(start)} after the second was told to leave`
  }),
  cluster:
    "whichever of the two pods is there, CSINode has the driver but for a second or two at each change; neither pod touched the other's socket.",
  upstream:
    "newest wins too, but the old one deletes the new one's socket when it stops: the node is without the driver, the new pod stays Ready."
}

export const registrarStops: Step = {
  title: "The registrar is told to stop: SIGTERM",
  happens: Effect.fnUntraced(function* (stage, registrar) {
    const { kubelet } = stage.world
    const from = kubelet.events.mark()
    const start = performance.now()
    stage.says("SIGTERM")
    const exit = yield* Effect.promise(() => registrar.stop())
    const took = since(start)
    yield* stage.checks("exit 0", exit.code === 0, describeExit(exit))
    yield* stage.checks("an empty folder", stage.entries().length === 0, stage.entries().join(" "))
    yield* stage.seesKubelet("deregistered", "the kubelet to unregister the driver", from)
    yield* stage.checks("an empty CSINode", kubelet.csiNode.size === 0, [...kubelet.csiNode.keys()].join(" "))
    return `exit 0 after ${took}; its socket is gone`
  }),
  cluster:
    "CSINode loses the driver as soon as the kubelet looks; the pod ends at once and leaves nothing in the kubelet's folder.",
  upstream: "removes the socket by name, whoever's it is by then; SIGINT and SIGHUP leave it behind."
}

export const steps: ReadonlyArray<Step> = [
  driverComesLate,
  kubeletRestarts,
  socketIsDeleted,
  kubeletRefuses,
  secondTakesOver,
  registrarStops
]
