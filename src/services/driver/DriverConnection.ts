/**
 * The connection to the CSI driver: waits for its socket, connects, asks GetPluginInfo, keeps the connection only to notice when it is lost.
 * No other CSI call is ever made (NodeGetInfo is the kubelet's), and the path is opened anew at each attempt, since a restarted driver
 * binds a new socket.
 */
import * as fs from "node:fs"

import * as grpc from "@grpc/grpc-js"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { GetPluginInfoRequest, GetPluginInfoResponse } from "../../../proto/generated/csi.ts"
import { IdentityService } from "../../../proto/generated/csi.ts"
import type { Failure } from "../../machine/context.ts"
import { limits } from "../../machine/policies.ts"
import { Klog } from "../Klog.ts"
import * as lines from "../log/catalogue.ts"
import { awaitListener, awaitSocket } from "./awaitSocket.ts"
import { driverNameFault } from "./driverName.ts"
import { responseText } from "./responseText.ts"
import { codeName, rpcError } from "./rpcError.ts"

/** This attempt failed; another one may succeed. */
export class DriverUnavailableError extends Data.TaggedError("DriverUnavailableError")<{ readonly obstacle: Failure }> {
  override get message() {
    return this.obstacle.cause
  }
}

/** The driver answered, and asking again would not change the answer. */
export class DriverRejectedError extends Data.TaggedError("DriverRejectedError")<{ readonly failure: Failure }> {
  override get message() {
    return this.failure.cause
  }
}

/** The first attempt to connect has failed; why is found out by looking. */
class ConnectionRefusedError extends Data.TaggedError("ConnectionRefusedError") {}

/** One GetPluginInfo call that has ended. */
export interface Call {
  /** Go's name of the status: `OK`, `Unavailable`, … */
  readonly code: string
  readonly seconds: number
  /** What the driver has told, if it is a CSI name. */
  readonly name: string | undefined
}

export interface DriverSettings {
  /** Absolute path of the driver's socket. */
  readonly socketPath: string
  /** For one GetPluginInfo call. */
  readonly callTimeoutMs: number
}

export class DriverConnection extends Context.Service<
  DriverConnection,
  {
    /**
     * One attempt: waits for the socket without limit, then connects and asks. Succeeds with a legal CSI name and a connection that stays open;
     * a failed or interrupted attempt leaves none. `onObstacle` hears what it waits for, repeats included.
     */
    readonly identify: (
      onObstacle: (obstacle: Failure) => void
    ) => Effect.Effect<string, DriverUnavailableError | DriverRejectedError>
    /** Ends when the connection of the last successful `identify` is lost. */
    readonly lost: Effect.Effect<void>
    /** Calls `listener` at the end of each GetPluginInfo call, before `identify` answers, until the returned function is called. */
    readonly onCall: (listener: (call: Call) => void) => () => void
  }
>()("registrar/services/driver/DriverConnection") {
  static readonly layer = (settings: DriverSettings) => Layer.effect(DriverConnection, make(settings))
}

/** grpc-js idles a quiet channel after 30 minutes by default, which would look like a loss. This is the longest delay of a Node timer. */
const neverIdleMs = 2 ** 31 - 1

/** Connections in a row that a driver ends soon after it took them. */
const shortLivesToBear = 3

/** A driver that begins to listen between our connecting and our look has not hung up. */
const hangUpsToBelieve = 2

const channelOptions: grpc.ChannelOptions = {
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_channelz": 0,
  "grpc.enable_retries": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.client_idle_timeout_ms": neverIdleMs
}

const unavailable = (step: Failure["step"], cause: string, advice: string) =>
  new DriverUnavailableError({ obstacle: { step, cause, advice } })

const rejected = (cause: string, advice: string) =>
  new DriverRejectedError({ failure: { step: "identifying", cause, advice } })

/** Why a call of GetPluginInfo failed, and whether another one may succeed. */
const callFault = (error: grpc.ServiceError, callTimeoutMs: number) => {
  if (error.code === grpc.status.UNIMPLEMENTED) {
    return rejected(rpcError(error), "the socket must serve csi.v1.Identity/GetPluginInfo; is it the driver's own?")
  }
  const advice =
    error.code === grpc.status.DEADLINE_EXCEEDED
      ? `GetPluginInfo took longer than --timeout=${callTimeoutMs / 1_000}s; raise it or look at the driver`
      : "look at the driver's own log"
  return unavailable("identifying", rpcError(error), advice)
}

const legalName = (response: GetPluginInfoResponse | undefined) =>
  response === undefined || driverNameFault(response.name) !== undefined ? undefined : response.name

/** Which socket lies at a path: another one belongs to another process. Empty when none does. */
const socketIdentity = (socketPath: string): string => {
  try {
    const { dev, ino, birthtimeMs } = fs.statSync(socketPath)
    return `${dev}:${ino}:${birthtimeMs}`
  } catch {
    return ""
  }
}

const leavesReady = (client: grpc.Client) =>
  Effect.callback<void>((resume) => {
    client
      .getChannel()
      .watchConnectivityState(grpc.connectivityState.READY, Number.POSITIVE_INFINITY, () => resume(Effect.void))
  })

/** Ends once the channel is usable: true, or false as soon as its first attempt has failed. */
const connects = (client: grpc.Client, socketPath: string) =>
  Effect.callback<boolean>((resume) => {
    const channel = client.getChannel()
    const look = (state: grpc.connectivityState): void => {
      if (state === grpc.connectivityState.READY) resume(Effect.succeed(true))
      else if (state === grpc.connectivityState.TRANSIENT_FAILURE || state === grpc.connectivityState.SHUTDOWN) {
        resume(Effect.succeed(false))
      } else {
        channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => look(channel.getConnectivityState(false)))
      }
    }
    look(channel.getConnectivityState(true))
  }).pipe(
    Effect.timeoutOrElse({
      duration: limits.dialMs,
      orElse: () =>
        Effect.fail(
          unavailable(
            "connecting",
            `${socketPath} accepts connections but gave no HTTP/2 answer within ${limits.dialMs / 1_000} s`,
            "the driver hangs or the socket is not gRPC; look at the driver's container"
          )
        )
    })
  )

const make = ({ socketPath, callTimeoutMs }: DriverSettings) =>
  Effect.gen(function* () {
    const log = yield* Klog
    const address = `unix://${socketPath}`
    const listeners = new Set<(call: Call) => void>()
    let connected: { readonly client: grpc.Client; readonly socket: string } | undefined

    const hangUp = Effect.sync(() => {
      connected?.client.close()
      connected = undefined
    })

    const getPluginInfo = (client: grpc.Client) =>
      Effect.callback<GetPluginInfoResponse, grpc.ServiceError>((resume) => {
        const { path, requestSerialize, responseDeserialize } = IdentityService.GetPluginInfo
        log.write(lines.grpcCall, { method: path, request: "{}" })
        const since = performance.now()
        const call = client.makeUnaryRequest<GetPluginInfoRequest, GetPluginInfoResponse>(
          path,
          requestSerialize,
          responseDeserialize,
          {},
          { deadline: Date.now() + callTimeoutMs },
          (error, response) => {
            log.write(lines.grpcResponse, {
              response: responseText(response),
              err: error === null ? null : rpcError(error)
            })
            const seconds = (performance.now() - since) / 1_000
            const ended = { code: codeName(error?.code ?? grpc.status.OK), seconds, name: legalName(response) }
            for (const listener of [...listeners]) listener(ended)
            resume(error === null ? Effect.succeed(response as GetPluginInfoResponse) : Effect.fail(error))
          }
        )
        return Effect.sync(() => call.cancel())
      })

    const open = () => new grpc.Client(`unix:${socketPath}`, grpc.credentials.createInsecure(), channelOptions)

    /** A usable connection, on a client that is closed again should `use` fail. */
    const withConnection = <A, E>(use: (client: grpc.Client) => Effect.Effect<A, E>) =>
      Effect.suspend(() => {
        const client = open()
        return Effect.onExit(use(client), (exit) =>
          Effect.sync(() => {
            if (exit._tag === "Failure") client.close()
          })
        )
      })

    const ask = Effect.fnUntraced(function* (client: grpc.Client) {
      if (!(yield* connects(client, socketPath))) return yield* new ConnectionRefusedError()
      log.write(lines.callingDriver)
      const { name } = yield* Effect.mapError(getPluginInfo(client), (error) => callFault(error, callTimeoutMs))
      const fault = driverNameFault(name)
      if (fault !== undefined) return yield* rejected(fault, "GetPluginInfo must return a CSI name; fix the driver")
      connected = { client, socket: socketIdentity(socketPath) }
      log.write(lines.driverName, { csiDriverName: name })
      return name
    })

    const identify = Effect.fnUntraced(function* (onObstacle: (obstacle: Failure) => void) {
      yield* hangUp
      for (let hangUps = 0; hangUps < hangUpsToBelieve; ) {
        yield* awaitSocket(socketPath, onObstacle)
        log.write(lines.connecting, { address })
        const name = yield* Effect.catchTag(withConnection(ask), "ConnectionRefusedError", () => Effect.void)
        if (name !== undefined) return name
        if (yield* awaitListener(socketPath, onObstacle)) hangUps++
      }
      return yield* unavailable(
        "connecting",
        `${socketPath} accepts connections but does not speak HTTP/2`,
        "let --csi-address name the driver's gRPC socket"
      )
    })

    /**
     * A connection that ends is no loss while the same socket takes another one: servers close connections for their age. One that takes them only to hang up is
     * lost, after a few.
     */
    const lossOf = Effect.fnUntraced(function* (client: grpc.Client, socket: string) {
      let shortLives = 0
      do {
        const since = performance.now()
        yield* leavesReady(client)
        shortLives = performance.now() - since < limits.settledMs ? shortLives + 1 : 0
      } while (
        shortLives <= shortLivesToBear &&
        (yield* Effect.orElseSucceed(connects(client, socketPath), () => false)) &&
        socketIdentity(socketPath) === socket
      )
    })

    yield* Effect.addFinalizer(() => hangUp)
    return DriverConnection.of({
      identify,
      lost: Effect.suspend(() => (connected === undefined ? Effect.void : lossOf(connected.client, connected.socket))),
      onCall: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      }
    })
  })
