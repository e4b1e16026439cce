/** Claim: a registrar whose loop stood still, for want of CPU, is not broken; the limit is there for sockets that do not answer. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { Klog } from "../../../src/services/Klog.ts"
import { RegistrationServer } from "../../../src/services/registration/RegistrationServer.ts"
import { tempFolder } from "../../fakes/tempFolder.ts"
import { makeFakeLog } from "../../fakes/World.ts"

const callTimeoutMs = 100

/** Before what is pending is heard, as a full collection or a throttled CPU does. */
const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 * callTimeoutMs)

it.live.each([1, 2, 3, 4, 5, 6, 7, 8])("the loop stands still in turn %d of a check", (turn) =>
  Effect.gen(function* () {
    const folder = yield* tempFolder
    const layer = RegistrationServer.layer({ folder, endpoint: "/plugins/a/csi.sock", callTimeoutMs }).pipe(
      Layer.provide([Klog.layer(makeFakeLog().log), NodeFileSystem.layer])
    )
    yield* Effect.gen(function* () {
      const server = yield* RegistrationServer
      yield* server.serve(() => {})
      yield* server.announce({ driverName: "a.example.com", takeOver: false })
      let turns = 0
      const count = () => {
        if (++turns === turn) standStill()
        else if (turns < turn) setImmediate(count)
      }
      setImmediate(count)
      assert.isUndefined(yield* server.selfCheck)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })
)
