/**
 * The gRPC half of the registration server: `pluginregistration.Registration` on whatever connections it is given. It answers from memory, replies
 * before it reports, and closes only after the calls that are open have been answered.
 *
 * Connections are ours and not the library's (a `net.Server` hands them over), for two reasons: the socket must be bound under another
 * name first, and a connection that never speaks would keep the library's own shutdown waiting for ever.
 */
import * as crypto from "node:crypto"
import * as http2 from "node:http2"
import type * as net from "node:net"

import * as grpc from "@grpc/grpc-js"
import * as Effect from "effect/Effect"

import type {
  InfoRequest,
  PluginInfo,
  RegistrationStatus,
  RegistrationStatusResponse
} from "../../../proto/generated/pluginregistration.ts"
import { RegistrationService } from "../../../proto/generated/pluginregistration.ts"
import { limits } from "../../machine/policies.ts"
import { withLegalAuthority } from "./authority.ts"

export interface RegistrationApi {
  /** Takes a connection over: a self-check's, or a gRPC client's. */
  readonly accept: (socket: net.Socket) => void
  /** The first bytes of a connection that proves it reaches this process, and a promise-like effect that ends when they have arrived. */
  readonly expectKnock: () => { readonly greeting: string; readonly arrived: Effect.Effect<void> }
  /** What marks a GetInfo as our own check, so that it is not taken for the kubelet's. */
  readonly ownMetadata: grpc.Metadata
  /** Open calls are answered, then every connection is closed. Takes `limits.openCallsMs` and a few turns at most. */
  readonly close: Effect.Effect<void>
}

interface RegistrationApiHandlers {
  /** The answer to GetInfo at this moment. */
  readonly info: () => PluginInfo
  readonly onGetInfo: () => void
  readonly onNotify: (status: RegistrationStatus) => void
}

const checkKey = "registrar-self-check"
const greetingPrefix = "registrar-self-check "
/** A client that has sent nothing by then is not a kubelet; grpc-go's servers use the same limit. */
const firstByteMs = 120_000
/** After the last reply was handed over: frames leave at the end of a turn, and requests already in the kernel's buffer are read in the next. */
const flushTurns = 3

/** A kubelet has one call open at a time. Each open stream costs memory that a burst would keep. */
const callsAtOnce = 4

/**
 * Once a call is answered, the rest of its request is not wanted: grpc-js would read a message that was refused for its size to its end, and the
 * memory for that stays. The stream is a field of the call that its types do not show.
 */
const dropRestOfRequest = (call: unknown) => {
  const { stream } = call as { readonly stream?: http2.ServerHttp2Stream }
  stream?.once("finish", () =>
    setImmediate(() => {
      const halfClosed = http2.constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL
      if (stream.state.state === halfClosed) stream.close(http2.constants.NGHTTP2_NO_ERROR)
    })
  )
}

const turn = Effect.callback<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

export const makeRegistrationApi = (handlers: RegistrationApiHandlers): RegistrationApi => {
  const nonce = crypto.randomUUID()
  const connections = new Set<net.Socket>()
  const awaited = new Map<string, () => void>()
  let openCalls = 0

  const countCalls: grpc.ServerInterceptor = (_method, call) => {
    dropRestOfRequest(call)
    openCalls++
    let open = true
    const over = () => {
      if (open) openCalls--
      open = false
    }
    return new grpc.ServerInterceptingCall(call, {
      start: (next) => next({ onCancel: over }),
      sendStatus: (status, next) => {
        next(status)
        over()
      }
    })
  }

  const server = new grpc.Server({
    interceptors: [countCalls],
    "grpc.enable_channelz": 0,
    "grpc.max_concurrent_streams": callsAtOnce
  })
  server.addService(RegistrationService, {
    GetInfo: (call: grpc.ServerUnaryCall<InfoRequest, PluginInfo>, reply: grpc.sendUnaryData<PluginInfo>) => {
      reply(null, handlers.info())
      if (call.metadata.get(checkKey)[0] !== nonce) handlers.onGetInfo()
    },
    NotifyRegistrationStatus: (
      call: grpc.ServerUnaryCall<RegistrationStatus, RegistrationStatusResponse>,
      reply: grpc.sendUnaryData<RegistrationStatusResponse>
    ) => {
      reply(null, {})
      handlers.onNotify(call.request)
    }
  })
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure())

  const accept = (socket: net.Socket) => {
    connections.add(socket)
    socket.on("error", () => socket.destroy())
    socket.on("close", () => connections.delete(socket))
    socket.setTimeout(firstByteMs, () => socket.destroy())
    socket.once("readable", () => {
      const first: Buffer | null = socket.read()
      if (first === null) return void socket.destroy()
      socket.setTimeout(0)
      const greeted = first.length < 100 ? awaited.get(first.toString("latin1")) : undefined
      if (greeted !== undefined) {
        greeted()
        return void socket.destroy()
      }
      socket.unshift(first)
      injector.injectConnection(withLegalAuthority(socket))
    })
  }

  const expectKnock = () => {
    const greeting = `${greetingPrefix}${crypto.randomUUID()}`
    const arrived = Effect.callback<void>((resume) => {
      awaited.set(greeting, () => {
        awaited.delete(greeting)
        resume(Effect.void)
      })
      return Effect.sync(() => awaited.delete(greeting))
    })
    return { greeting, arrived }
  }

  const close = Effect.gen(function* () {
    const deadline = performance.now() + limits.openCallsMs
    for (let quietTurns = 0; quietTurns < flushTurns; ) {
      yield* turn
      quietTurns = openCalls === 0 || performance.now() > deadline ? quietTurns + 1 : 0
    }
    for (const socket of connections) socket.destroySoon()
    yield* turn
    for (const socket of connections) socket.destroy()
    server.forceShutdown()
  })

  const ownMetadata = new grpc.Metadata()
  ownMetadata.set(checkKey, nonce)
  return { accept, expectKnock, ownMetadata, close }
}
