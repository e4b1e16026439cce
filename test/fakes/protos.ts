/** The services of proto/, loaded by @grpc/proto-loader: a second opinion beside the codecs that the product uses. */
import * as path from "node:path"

import * as grpc from "@grpc/grpc-js"
import * as protoLoader from "@grpc/proto-loader"

const load = (file: string) =>
  grpc.loadPackageDefinition(
    protoLoader.loadSync(path.resolve(import.meta.dirname, "../../proto", file), { keepCase: true, defaults: true })
  )

const serviceAt = (root: grpc.GrpcObject, ...names: ReadonlyArray<string>): grpc.ServiceClientConstructor =>
  names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], root) as grpc.ServiceClientConstructor

export const Identity = serviceAt(load("csi.proto"), "csi", "v1", "Identity")
export const Registration = serviceAt(load("pluginregistration.proto"), "pluginregistration", "Registration")
