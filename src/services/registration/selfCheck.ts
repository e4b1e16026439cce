/**
 * Whether the registration socket is in place, ours, and answering: what `/healthz` asks. An answer of some registrar of the same name is not
 * enough, so device and inode are compared and a connection to the path must reach this very process. A whole GetInfo, which
 * costs more, follows each placement and then every 60 s.
 */
import * as net from "node:net"

import * as grpc from "@grpc/grpc-js"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

import type { InfoRequest, PluginInfo } from "../../../proto/generated/pluginregistration.ts"
import { RegistrationService } from "../../../proto/generated/pluginregistration.ts"
import { rpcError } from "../driver/rpcError.ts"
import type { Log } from "../log/Log.ts"
import * as lines from "../log/catalogue.ts"
import type { RegistrationApi } from "./RegistrationApi.ts"
import { isSame, look, type OwnSocket } from "./RegistrationSocket.ts"

/** `reason` is the body that upstream answers with. */
export class SelfCheckError extends Data.TaggedError("SelfCheckError")<{
  readonly kind: "missing" | "broken"
  readonly reason: string
}> {
  override get message() {
    return this.reason
  }
}

interface Checked {
  readonly own: () => OwnSocket | undefined
  readonly path: () => string
  readonly driverName: () => string
  readonly api: () => RegistrationApi | undefined
  readonly callTimeoutMs: number
  readonly log: Log
}

const wholeCheckEveryMs = 60_000

const broken = (reason: string) => new SelfCheckError({ kind: "broken", reason })
const missing = () => new SelfCheckError({ kind: "missing", reason: "registration socket does not exist" })

const uninformed = (error: Parameters<typeof rpcError>[0]) =>
  broken(`error getting info from node-registrar socket: ${rpcError(error)}`)

/**
 * Within `ms` of a loop that turns. A limit that ran out while the loop stood still would be heard before what has arrived meanwhile, and a registrar that is
 * short of CPU would pass for a broken one: a stop counts as one of ten parts, however long it was.
 */
const within = <A>(check: Effect.Effect<A, SelfCheckError>, ms: number, late: () => SelfCheckError) =>
  Effect.raceFirst(
    check,
    Effect.andThen(
      Effect.repeat(Effect.sleep(ms / 10), { times: 9 }),
      Effect.suspend(() => Effect.fail(late()))
    )
  )

const reach = (api: RegistrationApi, socketPath: string) =>
  Effect.suspend(() => {
    const { greeting, arrived } = api.expectKnock()
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        const socket = net.connect({ path: socketPath })
        socket.on("error", () => socket.destroy())
        socket.write(greeting, "latin1")
        return socket
      }),
      () => arrived,
      (socket) => Effect.sync(() => socket.destroy())
    )
  })

const getInfo = (api: RegistrationApi, socketPath: string) =>
  Effect.acquireUseRelease(
    Effect.sync(
      () =>
        new grpc.Client(`unix:${socketPath}`, grpc.credentials.createInsecure(), {
          "grpc.use_local_subchannel_pool": 1,
          "grpc.enable_channelz": 0,
          "grpc.service_config_disable_resolution": 1
        })
    ),
    (client) =>
      Effect.callback<PluginInfo, SelfCheckError>((resume) => {
        const { path, requestSerialize, responseDeserialize } = RegistrationService.GetInfo
        const call = client.makeUnaryRequest<InfoRequest, PluginInfo>(
          path,
          requestSerialize,
          responseDeserialize,
          {},
          api.ownMetadata,
          (error, info) => resume(error === null ? Effect.succeed(info as PluginInfo) : Effect.fail(uninformed(error)))
        )
        return Effect.sync(() => call.cancel())
      }),
    (client) => Effect.sync(() => client.close())
  )

/** Takes `callTimeoutMs` at most for each of its two halves, unless the loop stands still. */
export const makeSelfCheck = (checked: Checked): Effect.Effect<void, SelfCheckError> => {
  const { callTimeoutMs, log } = checked
  let whole: { readonly own: OwnSocket; readonly at: number } | undefined
  const isDue = (own: OwnSocket) => whole?.own !== own || performance.now() - whole.at >= wholeCheckEveryMs

  return Effect.gen(function* () {
    const [own, socketPath, driverName, api] = [checked.own(), checked.path(), checked.driverName(), checked.api()]
    const found = yield* Effect.try({ try: () => look(socketPath), catch: (error) => broken(String(error)) })
    if (found.kind === "nothing") return yield* missing()
    if (found.kind === "other") {
      return yield* broken(`file exists in socketPath ${socketPath} but it's not a socket.: it is ${found.what}`)
    }
    if (own === undefined || api === undefined || !isSame(found, own)) {
      return yield* broken(`registration socket ${socketPath} is not this registrar's`)
    }
    log.write(lines.healthCheckConnecting, { socketfile: socketPath })
    yield* within(reach(api, socketPath), callTimeoutMs, () =>
      broken(`error connecting to node-registrar socket ${socketPath}: context deadline exceeded`)
    )
    if (!isDue(own)) return
    log.write(lines.healthCheckCalling)
    const { name } = yield* within(getInfo(api, socketPath), callTimeoutMs, () =>
      uninformed({ code: grpc.status.DEADLINE_EXCEEDED, details: "" })
    )
    if (name !== driverName) return yield* broken(`invalid driver name ${name}`)
    whole = { own, at: performance.now() }
  })
}
