/**
 * A CSI driver on a real socket that comes and goes: GetPluginInfo for the registrar, NodeGetInfo for the kubelet. Going down cuts every connection
 * and takes the socket away, as a driver that stops in good order does.
 */
import { rmSync } from "node:fs"

import * as grpc from "@grpc/grpc-js"

import type { GetPluginInfoResponse } from "../proto/generated/csi.ts"
import { Identity } from "../test/fakes/protos.ts"
import { Journal } from "./Journal.ts"
import { type NodeInfo, NodeService } from "./nodeService.ts"

type Call = "GetPluginInfo" | "NodeGetInfo"

export class Driver {
  readonly name: string
  readonly nodeId: string
  readonly socketPath: string
  /** The calls that have come. */
  readonly calls = new Journal<Call>(String)
  #server: grpc.Server | undefined

  constructor(socketPath: string, name: string, nodeId: string) {
    this.socketPath = socketPath
    this.name = name
    this.nodeId = nodeId
  }

  get isUp(): boolean {
    return this.#server !== undefined
  }

  /** Resolves when it listens. */
  async up(): Promise<void> {
    if (this.#server !== undefined) return
    const server = new grpc.Server({ "grpc.enable_channelz": 0 })
    this.#server = server
    server.addService(Identity.service, {
      GetPluginInfo: this.#answering<GetPluginInfoResponse>("GetPluginInfo", {
        name: this.name,
        vendor_version: "1.0.0",
        manifest: {}
      })
    })
    server.addService(NodeService.service, {
      NodeGetInfo: this.#answering<NodeInfo>("NodeGetInfo", { node_id: this.nodeId })
    })
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${this.socketPath}`, grpc.ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error)
      )
    })
  }

  down(): void {
    this.#server?.forceShutdown()
    this.#server = undefined
    rmSync(this.socketPath, { force: true })
  }

  #answering<Reply>(call: Call, reply: Reply): grpc.handleUnaryCall<object, Reply> {
    return (_, done) => {
      this.calls.add(call)
      done(null, reply)
    }
  }
}
