/** A registrar on the real bridge, in a world of buttons and a test clock: every event of the chart has one. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"

import type { Policy } from "../../src/machine/context.ts"
import { Klog } from "../../src/services/Klog.ts"
import type { Line, Log } from "../../src/services/log/Log.ts"
import { makeRegistrar } from "../../src/services/Registrar.ts"
import { Status } from "../../src/services/Status.ts"
import { takenTransitions } from "../machine/transitions.ts"
import type { Press } from "../machine/walks.ts"
import { makeFakeDriver } from "./FakeDriver.ts"
import { makeFakeRegistrationServer } from "./FakeRegistrationServer.ts"
import { makeGate } from "./Gate.ts"

export const makeFakeLog = () => {
  const written: Array<Line & { readonly values: Readonly<Record<string, unknown>> }> = []
  const log: Log = {
    write: (line, values = {}) => void written.push({ ...line, values }),
    enabled: () => true,
    flush: () => {},
    dropped: () => 0
  }
  return { log, written, messages: () => written.map(({ message }) => message) }
}

export const makeWorld = (policy: Policy) =>
  Effect.gen(function* () {
    const gate = makeGate()
    const driver = makeFakeDriver(gate)
    const server = makeFakeRegistrationServer(gate)
    const fakeLog = makeFakeLog()
    const services = yield* Layer.build(
      Layer.mergeAll(driver.layer, server.layer, Status.layer(), Klog.layer(fakeLog.log))
    )
    const taken: Array<string> = []
    const registrar = yield* makeRegistrar({
      policy,
      csiAddress: "/csi/csi.sock",
      address: "unix:///csi/csi.sock",
      registrationFolder: "/registration",
      inspect: (event) => taken.push(...takenTransitions(event))
    }).pipe(Effect.provideContext(services))
    const status = yield* Effect.provideContext(Status, services)
    yield* Effect.addFinalizer(() => Effect.sync(gate.open))

    /** Does in the world what makes the chart receive this event. Time passes by `afterMs` only. */
    const press = (event: Press, afterMs: number): void => {
      switch (event.type) {
        case "driver.awaited":
          driver.block(event.obstacle)
          break
        case "driver.unavailable":
          driver.fail(event.obstacle)
          break
        case "driver.rejected":
          driver.reject(event.failure)
          break
        case "driver.identified":
          driver.answer(event.name)
          break
        case "driver.lost":
          driver.lose()
          break
        case "socket.placed":
          server.place(event)
          break
        case "socket.displaced":
          if (server.isAnnouncing()) server.findRival()
          else server.tell(event)
          break
        case "socket.failed":
          if (server.isAnnouncing()) server.breakFolder(event.failure)
          else server.tell(event)
          break
        case "socket.blocked":
          server.block(event.obstacle)
          break
        case "socket.stranded":
          server.strand(event.failure)
          gate.open()
          break
        case "socket.removed":
        case "socket.vacated":
        case "kubelet.asked":
        case "kubelet.accepted":
        case "kubelet.refused":
          server.tell(event)
          break
        case "stop.requested":
        case "dump.requested":
        case "program.crashed":
          registrar.send(event)
          break
        default:
          if (event.type.startsWith("xstate.done.actor.")) gate.open()
          else if (!event.type.startsWith("xstate.after.") || afterMs <= 0)
            throw new Error(`there is no button for ${event.type}`)
      }
    }

    /** `press`, then the world settles. While the chart is `stopping`, releases wait until their end is pressed. */
    const step = (event: Press, afterMs: number, endsStopping: boolean) =>
      Effect.gen(function* () {
        if (endsStopping) gate.close()
        press(event, afterMs)
        yield* TestClock.adjust(afterMs)
      })

    return {
      services,
      registrar,
      status,
      taken: taken as ReadonlyArray<string>,
      driver,
      server,
      gate,
      log: fakeLog,
      step,
      press
    }
  })
