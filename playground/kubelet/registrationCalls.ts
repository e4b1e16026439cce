/** The three calls of a kubelet, with its limits, and with the `:authority` that its gRPC library sends. */
import * as grpc from "@grpc/grpc-js"

import type { PluginInfo, RegistrationStatus } from "../../proto/generated/pluginregistration.ts"
import { Registration } from "../../test/fakes/protos.ts"
import { type NodeInfo, NodeService } from "../nodeService.ts"

const dialMs = 10_000
const getInfoMs = 1_000
const notifyMs = 5_000
const nodeGetInfoMs = 120_000

const channelOptions: grpc.ChannelOptions = {
  // Each connection is one of its own.
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_channelz": 0,
  "grpc.enable_retries": 0,
  "grpc.service_config_disable_resolution": 1
}

/** grpc-go's words for a failed call, as they stand in the kubelet's texts. */
export const callFault = (error: unknown): string => {
  const { code, details, message } = error as grpc.ServiceError
  return code === undefined ? message : `rpc error: code = ${codeNames[code] ?? code} desc = ${details}`
}

const codeNames: Readonly<Record<number, string>> = {
  [grpc.status.CANCELLED]: "Canceled",
  [grpc.status.UNKNOWN]: "Unknown",
  [grpc.status.DEADLINE_EXCEEDED]: "DeadlineExceeded",
  [grpc.status.UNIMPLEMENTED]: "Unimplemented",
  [grpc.status.INTERNAL]: "Internal",
  [grpc.status.UNAVAILABLE]: "Unavailable",
  [grpc.status.FAILED_PRECONDITION]: "FailedPrecondition"
}

/** One connection to a registration socket, for the whole of a registration. */
export interface RegistrationConnection {
  readonly getInfo: () => Promise<PluginInfo>
  readonly notify: (status: RegistrationStatus) => Promise<void>
  readonly close: () => void
}

/** Resolves when the other side speaks HTTP/2; rejects after 10 s. The signal cuts it off at any time. */
export const dial = async (socketPath: string, signal: AbortSignal): Promise<RegistrationConnection> => {
  const client = new Registration(`unix:${socketPath}`, grpc.credentials.createInsecure(), {
    ...channelOptions,
    "grpc.default_authority": encodeURIComponent(socketPath)
  })
  const close = () => client.close()
  signal.addEventListener("abort", close)
  try {
    await new Promise<void>((resolve, reject) =>
      client.waitForReady(Date.now() + dialMs, (error) =>
        error === undefined
          ? resolve()
          : reject(new Error(`failed to dial socket ${socketPath}: context deadline exceeded`))
      )
    )
  } catch (error) {
    close()
    throw error
  }
  return {
    getInfo: () => unary<PluginInfo>(client, "GetInfo", {}, getInfoMs, signal),
    notify: async (status) => void (await unary(client, "NotifyRegistrationStatus", status, notifyMs, signal)),
    close: () => {
      signal.removeEventListener("abort", close)
      close()
    }
  }
}

/** Asks the driver at `endpoint` on a connection of its own. A driver that is not there fails it at once. */
export const nodeGetInfo = async (endpoint: string, signal: AbortSignal): Promise<NodeInfo> => {
  const client = new NodeService(`unix:${endpoint}`, grpc.credentials.createInsecure(), channelOptions)
  try {
    return await unary<NodeInfo>(client, "NodeGetInfo", {}, nodeGetInfoMs, signal)
  } finally {
    client.close()
  }
}

const unary = <Reply>(
  client: grpc.Client,
  method: string,
  request: object,
  limitMs: number,
  signal: AbortSignal
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const cancel = () => call.cancel()
    const start = (client as unknown as Record<string, CallableFunction>)[method]?.bind(client)
    const call: grpc.ClientUnaryCall = start?.(
      request,
      { deadline: Date.now() + limitMs },
      (error: grpc.ServiceError | null, reply: Reply) => {
        signal.removeEventListener("abort", cancel)
        if (error === null) resolve(reply)
        else reject(error)
      }
    )
    signal.addEventListener("abort", cancel)
  })
