/** `csi.v1.Node` with NodeGetInfo only: what drivers answer to a kubelet. */
import { join } from "node:path"

import * as grpc from "@grpc/grpc-js"
import { loadSync } from "@grpc/proto-loader"

export interface NodeInfo {
  readonly node_id: string
}

const packages = grpc.loadPackageDefinition(
  loadSync(join(import.meta.dirname, "node.proto"), { keepCase: true, defaults: true, longs: Number })
) as unknown as { readonly csi: { readonly v1: { readonly Node: grpc.ServiceClientConstructor } } }

export const NodeService = packages.csi.v1.Node
