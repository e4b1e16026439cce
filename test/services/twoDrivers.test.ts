/** Claim: what belongs to one driver is apart from what belongs to the process. Two charts run in one process, and neither hears the other. */
import * as fs from "node:fs"
import * as path from "node:path"

import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it } from "@effect/vitest"
import * as grpc from "@grpc/grpc-js"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { defaultPolicy } from "../../src/machine/context.ts"
import { type LifecycleState, lifecycleState } from "../../src/machine/report.ts"
import { Klog } from "../../src/services/Klog.ts"
import { driverLayer } from "../../src/services/driverLayer.ts"
import { makeRegistrar } from "../../src/services/Registrar.ts"
import { Status } from "../../src/services/Status.ts"
import { Identity, Registration } from "../fakes/protos.ts"
import { tempFolder } from "../fakes/tempFolder.ts"
import { makeFakeLog } from "../fakes/World.ts"

const driverAt = (socketPath: string, name: string) =>
  Effect.acquireRelease(
    Effect.callback<grpc.Server>((resume) => {
      const server = new grpc.Server()
      server.addService(Identity.service, {
        GetPluginInfo: ((_, done) => done(null, { name })) as grpc.handleUnaryCall<unknown, unknown>
      })
      server.bindAsync(`unix:${socketPath}`, grpc.ServerCredentials.createInsecure(), () =>
        resume(Effect.succeed(server))
      )
    }),
    (server) => Effect.sync(() => server.forceShutdown())
  )

const accept = (socketPath: string) =>
  Effect.callback<void>((resume) => {
    const client = new Registration(`unix:${socketPath}`, grpc.credentials.createInsecure())
    const notify = (client as unknown as { NotifyRegistrationStatus: (request: object, done: () => void) => void })
      .NotifyRegistrationStatus
    notify.call(client, { plugin_registered: true }, () => {
      client.close()
      resume(Effect.void)
    })
  })

const registrarOf = Effect.fnUntraced(function* (root: string, name: string) {
  const folder = path.join(root, "registry")
  const socketPath = path.join(root, `${name}.sock`)
  const services = yield* Layer.build(
    driverLayer({ folder, endpoint: socketPath, socketPath, callTimeoutMs: 1_000 }).pipe(
      Layer.provideMerge(Klog.layer(makeFakeLog().log)),
      Layer.provide(NodeFileSystem.layer)
    )
  )
  const status = yield* Effect.provideContext(Status, services)
  const reach = Effect.fnUntraced(function* (wanted: LifecycleState) {
    const reached = yield* Deferred.make<void>()
    const look = () => {
      const snapshot = status.snapshot()
      if (snapshot !== undefined && lifecycleState(snapshot) === wanted) Deferred.doneUnsafe(reached, Effect.void)
    }
    const stop = status.subscribe(look)
    look()
    yield* Deferred.await(reached)
    stop()
  })
  const registrar = yield* Effect.provideContext(
    makeRegistrar({
      policy: defaultPolicy,
      csiAddress: socketPath,
      address: `unix://${socketPath}`,
      registrationFolder: folder
    }),
    services
  )
  return { registrar, status, reach, socket: path.join(folder, `${name}-reg.sock`) }
})

it.live("two drivers register side by side, and stopping one leaves the other registered", () =>
  Effect.gen(function* () {
    const root = yield* tempFolder
    const folder = path.join(root, "registry")
    fs.mkdirSync(folder)
    yield* driverAt(path.join(root, "a.sock"), "a")
    yield* driverAt(path.join(root, "b.sock"), "b")
    const a = yield* registrarOf(root, "a")
    const b = yield* registrarOf(root, "b")
    yield* Effect.all([a.reach("listening"), b.reach("listening")])
    assert.sameMembers(fs.readdirSync(folder), ["a-reg.sock", "b-reg.sock"])

    yield* accept(a.socket)
    yield* a.reach("registered")
    assert.strictEqual(b.status.snapshot() && lifecycleState(b.status.snapshot() as never), "listening")
    yield* accept(b.socket)
    yield* b.reach("registered")

    a.registrar.send({ type: "stop.requested", signal: "SIGTERM" })
    assert.deepStrictEqual(yield* a.registrar.outcome, { exitCode: 0, failure: undefined })
    assert.strictEqual(yield* a.registrar.live, 0)
    assert.deepStrictEqual(fs.readdirSync(folder), ["b-reg.sock"])
    assert.strictEqual(b.status.snapshot() && lifecycleState(b.status.snapshot() as never), "registered")
  })
)
