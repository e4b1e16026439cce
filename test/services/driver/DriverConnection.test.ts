/** Claim: the real DriverConnection, on a real socket with a real gRPC server at its other end, keeps the contract that the fake keeps too. */
import * as path from "node:path"

import * as grpc from "@grpc/grpc-js"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { DriverConnection } from "../../../src/services/driver/DriverConnection.ts"
import { Klog } from "../../../src/services/Klog.ts"
import { type DriverWorld, suite } from "../../contracts/DriverConnection.ts"
import { makeFakeDriver } from "../../fakes/FakeDriver.ts"
import { makeGate } from "../../fakes/Gate.ts"
import { Identity } from "../../fakes/protos.ts"
import { tempFolder } from "../../fakes/tempFolder.ts"
import { makeFakeLog } from "../../fakes/World.ts"

type Reply = (call: grpc.ServerUnaryCall<unknown, unknown>, done: grpc.sendUnaryData<unknown>) => void

const realWorld = Effect.gen(function* () {
  const socketPath = path.join(yield* tempFolder, "csi.sock")
  let server: grpc.Server | undefined
  let reply: Reply
  const stop = Effect.sync(() => {
    server?.forceShutdown()
    server = undefined
  })
  yield* Effect.addFinalizer(() => stop)

  const answers = (next: Reply) =>
    Effect.callback<void>((resume) => {
      reply = next
      if (server !== undefined) return resume(Effect.void)
      server = new grpc.Server()
      server.addService(Identity.service, { GetPluginInfo: ((call, done) => reply(call, done)) as Reply })
      server.bindAsync(`unix:${socketPath}`, grpc.ServerCredentials.createInsecure(), () => resume(Effect.void))
    })

  const world: DriverWorld = {
    layer: DriverConnection.layer({ socketPath, callTimeoutMs: 1_000 }).pipe(
      Layer.provide(Klog.layer(makeFakeLog().log))
    ),
    away: Effect.void,
    tellsName: (name) => answers((_, done) => done(null, { name })),
    failsForNow: answers((_, done) => done({ code: grpc.status.UNAVAILABLE, details: "starting" })),
    knowsNoCall: answers((_, done) => done({ code: grpc.status.UNIMPLEMENTED, details: "no such call" })),
    goes: stop
  }
  return world
})

const fakeWorld = Effect.sync((): DriverWorld => {
  const driver = makeFakeDriver(makeGate())
  const failure = { step: "connecting" as const, cause: "not there", advice: "" }
  const dialled = Effect.gen(function* () {
    while (!driver.isDialled()) yield* Effect.yieldNow
  })
  const press = (button: () => void) => Effect.andThen(dialled, Effect.sync(button))
  return {
    layer: driver.layer,
    away: press(() => driver.block(failure)),
    tellsName: (name) => press(() => driver.answer(name)),
    failsForNow: press(() => driver.fail(failure)),
    knowsNoCall: press(() => driver.reject(failure)),
    goes: Effect.sync(() => driver.lose())
  }
})

suite("the real driver connection", realWorld)
suite("the fake driver", fakeWorld)
