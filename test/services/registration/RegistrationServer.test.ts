/**
 * Claim: the real RegistrationServer, in a real folder with a real gRPC client as kubelet, keeps the contract that the fake keeps too, and leaves
 * nothing in the folder.
 */
import * as fs from "node:fs"
import * as http2 from "node:http2"
import * as path from "node:path"

import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert } from "@effect/vitest"
import * as grpc from "@grpc/grpc-js"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { Klog } from "../../../src/services/Klog.ts"
import { RegistrationServer } from "../../../src/services/registration/RegistrationServer.ts"
import { type RegistrationWorld, suite } from "../../contracts/RegistrationServer.ts"
import { makeFakeRegistrationServer } from "../../fakes/FakeRegistrationServer.ts"
import { makeGate } from "../../fakes/Gate.ts"
import { Registration } from "../../fakes/protos.ts"
import { tempFolder } from "../../fakes/tempFolder.ts"
import { makeFakeLog } from "../../fakes/World.ts"

const socketName = "a.example.com-reg.sock"

const realWorld = Effect.gen(function* () {
  const folder = path.join(yield* tempFolder, "registry")
  fs.mkdirSync(folder)
  const socketPath = path.join(folder, socketName)
  let rival: http2.Http2Server | undefined

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      rival?.close()
      assert.deepStrictEqual(fs.existsSync(folder) ? fs.readdirSync(folder) : [], [], "something is left in the folder")
    })
  )

  const call = (method: string, request: object) =>
    Effect.callback<void>((resume) => {
      const client = new Registration(`unix:${socketPath}`, grpc.credentials.createInsecure())
      const run = (client as unknown as Record<string, (request: object, done: (error: unknown) => void) => void>)[
        method
      ]
      run?.call(client, request, (error) => {
        client.close()
        resume(error === null ? Effect.void : Effect.die(error))
      })
    })

  const world: RegistrationWorld = {
    layer: RegistrationServer.layer({ folder, endpoint: "/plugins/a/csi.sock", callTimeoutMs: 1_000 }).pipe(
      Layer.provide([Klog.layer(makeFakeLog().log), NodeFileSystem.layer])
    ),
    kubeletAsks: call("GetInfo", {}),
    kubeletAccepts: call("NotifyRegistrationStatus", { plugin_registered: true }),
    kubeletRefuses: (error) => call("NotifyRegistrationStatus", { plugin_registered: false, error }),
    proceeds: Effect.void,
    socketIsRemoved: Effect.sync(() => fs.unlinkSync(socketPath)),
    rivalComes: Effect.callback<void>((resume) => {
      rival = http2.createServer()
      const bound = path.join(folder, ".rival")
      rival.listen(bound, () => {
        fs.renameSync(bound, socketPath)
        resume(Effect.void)
      })
    }),
    rivalLeaves: Effect.sync(() => {
      rival?.close()
      rival = undefined
      fs.unlinkSync(socketPath)
    }),
    folderIsLost: Effect.sync(() => fs.rmdirSync(folder))
  }
  return world
})

const fakeWorld = Effect.sync((): RegistrationWorld => {
  const server = makeFakeRegistrationServer(makeGate())
  let rival = false
  let folderLost = false
  return {
    layer: server.layer,
    kubeletAsks: Effect.sync(() => server.tell({ type: "kubelet.asked" })),
    kubeletAccepts: Effect.sync(() => server.tell({ type: "kubelet.accepted" })),
    kubeletRefuses: (text) => Effect.sync(() => server.tell({ type: "kubelet.refused", text, spread: 0 })),
    proceeds: Effect.sync(() => {
      const takeOver = server.announcements.at(-1)?.takeOver ?? false
      if (folderLost) server.breakFolder({ step: "announcing", cause: "no folder", advice: "" })
      else if (rival && !takeOver) server.findRival()
      else server.place({ path: `/registration/${socketName}`, tookOver: rival })
    }),
    socketIsRemoved: Effect.sync(() => server.tell({ type: "socket.removed" })),
    rivalComes: Effect.sync(() => {
      rival = true
      if (server.announcements.length > 0) server.tell({ type: "socket.displaced" })
    }),
    rivalLeaves: Effect.sync(() => {
      rival = false
      server.tell({ type: "socket.vacated" })
    }),
    folderIsLost: Effect.sync(() => {
      folderLost = true
    })
  }
})

suite("the real registration server", realWorld)
suite("the fake registration server", fakeWorld)
