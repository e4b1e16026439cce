import { join } from "node:path"

import {
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  credentials,
  loadPackageDefinition
} from "@grpc/grpc-js"
import { loadSync } from "@grpc/proto-loader"
import { onTestFinished } from "vitest"

/** The kubelet's limit for its longest call, NotifyRegistrationStatus. */
const callTimeoutMs = 5_000

export interface PluginInfo {
  readonly type: string
  readonly name: string
  readonly endpoint: string
  readonly supported_versions: ReadonlyArray<string>
}

type Call<Request, Reply> = (
  request: Request,
  options: { readonly deadline: number },
  callback: (error: Error | null, reply: Reply) => void
) => void

interface Stub extends Client {
  readonly GetInfo: Call<object, PluginInfo>
  readonly NotifyRegistrationStatus: Call<{ readonly plugin_registered: boolean; readonly error: string }, object>
}

const proto = join(import.meta.dirname, "../../../proto/pluginregistration.proto")
const definition = loadPackageDefinition(loadSync(proto, { keepCase: true, defaults: true }))
const { Registration } = definition.pluginregistration as unknown as {
  readonly Registration: new (address: string, credentials: ChannelCredentials, options: ChannelOptions) => Stub
}

/** A bare client of a registration socket, for what the kubelet peer cannot be made to do. One connection, closed with the test. */
export class RegistrationClient {
  readonly #stub: Stub

  /** Without an authority it sends `localhost`, as a health check does. */
  constructor(socket: string, authority?: string) {
    this.#stub = new Registration(`unix://${socket}`, credentials.createInsecure(), {
      // Each client is a connection of its own.
      "grpc.use_local_subchannel_pool": 1,
      ...(authority === undefined ? {} : { "grpc.default_authority": authority })
    })
    onTestFinished(() => this.close())
  }

  getInfo(): Promise<PluginInfo> {
    return promised((callback) => this.#stub.GetInfo({}, deadline(), callback))
  }

  /** Resolves with the (empty) reply. */
  notify(registered: boolean, error = ""): Promise<object> {
    return promised((callback) =>
      this.#stub.NotifyRegistrationStatus({ plugin_registered: registered, error }, deadline(), callback)
    )
  }

  close(): void {
    this.#stub.close()
  }
}

const deadline = () => ({ deadline: Date.now() + callTimeoutMs })

const promised = <Reply>(call: (callback: (error: Error | null, reply: Reply) => void) => void): Promise<Reply> =>
  new Promise((resolve, reject) => call((error, reply) => (error === null ? resolve(reply) : reject(error))))
