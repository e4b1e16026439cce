/** A CSI driver on a real socket, inside the test, with buttons: it comes late, answers late or never, refuses, and tells any name. */
import * as fs from "node:fs"

import * as grpc from "@grpc/grpc-js"

import { Feed } from "./Feed.ts"
import { Identity } from "../protos.ts"

type Reply = (done: grpc.sendUnaryData<unknown>) => void

const asIs = (bytes: Buffer) => bytes
/** Of the node service, in bytes: the registrar's own schemas do not have it. */
const nodeService: grpc.ServiceDefinition = {
  NodeGetInfo: {
    path: "/csi.v1.Node/NodeGetInfo",
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs
  }
}
const withNodeId = (id: string) => Buffer.concat([Buffer.from([0x0a, Buffer.byteLength(id)]), Buffer.from(id)])

export class CsiDriver {
  readonly address: string
  /** The moments at which GetPluginInfo came, on the clock of `performance.now()`. */
  readonly calls = new Feed<number>("calls of the driver")
  #reply: Reply
  /** What NodeGetInfo tells; undefined for a driver without a node service. */
  nodeId: string | undefined = "node-1"
  #held: Array<() => void> = []
  #server: grpc.Server | undefined

  constructor(address: string, name: string) {
    this.address = address
    this.#reply = telling(name)
  }

  tells(name: string): void {
    this.#reply = telling(name)
  }

  refuses(code: grpc.status, details: string): void {
    this.#reply = (done) => done({ code, details })
  }

  /** Calls wait until `wakesUp`. */
  hangs(): void {
    const late = this.#reply
    this.#reply = (done) => void this.#held.push(() => late(done))
  }

  /** Answers what `hangs` has held back. */
  wakesUp(): void {
    for (const answer of this.#held.splice(0)) answer()
  }

  /** Binds its socket, and listens. */
  async comes(): Promise<void> {
    const server = new grpc.Server()
    server.addService(Identity.service, {
      GetPluginInfo: (_call: unknown, done: grpc.sendUnaryData<unknown>) => {
        this.calls.push(performance.now())
        this.#reply(done)
      }
    })
    server.addService(nodeService, {
      NodeGetInfo: (_call: unknown, done: grpc.sendUnaryData<unknown>) => {
        if (this.nodeId === undefined) done({ code: grpc.status.UNIMPLEMENTED, details: "no node service" })
        else done(null, withNodeId(this.nodeId))
      }
    })
    this.#server = server
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix:${this.address}`, grpc.ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error)
      )
    )
  }

  /** Cuts its connections; its socket goes with it. */
  goes(): void {
    this.#server?.forceShutdown()
    this.#server = undefined
    fs.rmSync(this.address, { force: true })
  }
}

const telling =
  (name: string): Reply =>
  (done) =>
    done(null, { name, vendor_version: "1" })
