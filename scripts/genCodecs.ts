// Writes proto/generated/NAME.ts for each proto/NAME.proto: interfaces and field tables for the codecs of proto/codec.ts, and the
// services as grpc-js wants them. Whatever those codecs cannot do (other types, enums, oneofs, streams, imports, options) fails here.
//
//   node scripts/genCodecs.ts
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"

import protobuf from "protobufjs"

import type { FieldKind } from "../proto/codec.ts"

const protoDir = resolve(import.meta.dirname, "../proto")

/** The generated file for one .proto source; throws with the place and the reason where the source asks for more than the codecs can do. */
export const generate = (source: string, fileName: string): string => {
  const refuse = (place: string, reason: string): never => {
    throw new Error(`${fileName}: ${place}: ${reason}; teach it to proto/codec.ts and scripts/genCodecs.ts first`)
  }
  if (!/^syntax = "proto3";$/m.test(source)) refuse("syntax", "only proto3 is supported")
  const {
    root,
    imports,
    weakImports,
    package: packageName
  } = protobuf.parse(source, {
    keepCase: true,
    alternateCommentMode: true
  })
  if (packageName === undefined) return refuse("package", "none is given")
  if (imports || weakImports) refuse("import", "imports are not supported")
  const members = (root.lookup(packageName) as protobuf.Namespace).nestedArray
  const messages = members.filter((member) => member instanceof protobuf.Type)
  const services = members.filter((member) => member instanceof protobuf.Service)
  for (const member of members) {
    if (!(member instanceof protobuf.Type || member instanceof protobuf.Service)) {
      refuse(member.name, `a ${member.constructor.name} is not supported`)
    }
  }

  const kindOf = (field: protobuf.Field): FieldKind => {
    const kind =
      field instanceof protobuf.MapField
        ? `map<${field.keyType}, ${field.type}>`
        : `${field.repeated ? "repeated " : ""}${field.type}`
    return kind in typeOfKind
      ? (kind as FieldKind)
      : refuse(`${field.parent?.name}.${field.name}`, `the type ${kind} is not supported`)
  }

  const message = (type: protobuf.Type): string => {
    if (type.nestedArray.length > 0) refuse(type.name, "nested definitions are not supported")
    if (type.oneofsArray.length > 0) refuse(type.name, "oneof and optional are not supported")
    if (type.options) refuse(type.name, "options are not supported")
    const fields = type.fieldsArray.toSorted((a, b) => a.id - b.id)
    for (const field of fields) if (field.options) refuse(`${type.name}.${field.name}`, "options are not supported")
    const members = fields.flatMap((field) => [
      ...docstring(field.comment, "  "),
      `  readonly ${field.name}: ${typeOfKind[kindOf(field)]}`
    ])
    const table = fields.map((field) => `  [${field.id}, "${field.name}", "${kindOf(field)}"]`)
    return lines(
      ...docstring(type.comment, ""),
      ...(members.length > 0
        ? [`export interface ${type.name} {`, ...members, "}"]
        : [`export type ${type.name} = Record<never, never>`]),
      `export const ${type.name}: Codec<${type.name}> = codec([${table.length > 0 ? `\n${table.join(",\n")}\n` : ""}])`
    )
  }

  const service = (service: protobuf.Service): string => {
    if (service.options) refuse(service.name, "options are not supported")
    const methods = service.methodsArray.map((method) => {
      const place = `${service.name}.${method.name}`
      if (method.requestStream || method.responseStream) refuse(place, "streams are not supported")
      if (method.options) refuse(place, "options are not supported")
      const [request, response] = [method.requestType, method.responseType]
      for (const name of [request, response]) {
        if (!messages.some((type) => type.name === name)) refuse(place, `${name} is not a message of this file`)
      }
      return `  ${method.name}: unary("/${packageName}.${service.name}/${method.name}", ${request}, ${response})`
    })
    return lines(...docstring(service.comment, ""), `export const ${service.name}Service = {`, methods.join(",\n"), "}")
  }

  return [
    lines(
      `// Generated from proto/${fileName} by \`node scripts/genCodecs.ts\`: do not edit.`,
      `import { type Codec, codec${services.length > 0 ? ", unary" : ""} } from "../codec.ts"`
    ),
    ...messages.map(message),
    ...services.map(service)
  ].join("\n")
}

const typeOfKind: Record<FieldKind, string> = {
  bool: "boolean",
  string: "string",
  "repeated string": "ReadonlyArray<string>",
  "map<string, string>": "Readonly<Record<string, string>>"
}

function docstring(comment: string | null, indent: string): Array<string> {
  return comment ? [`${indent}/** ${comment.replaceAll("\n", " ")} */`] : []
}

function lines(...all: ReadonlyArray<string>): string {
  return `${all.join("\n")}\n`
}

/** Every .proto file with the path and text of what is generated from it. */
export const generateAll = (): ReadonlyArray<{ readonly path: string; readonly text: string }> =>
  readdirSync(protoDir)
    .filter((name) => name.endsWith(".proto"))
    .map((name) => ({
      path: join(protoDir, "generated", `${basename(name, ".proto")}.ts`),
      text: generate(readFileSync(join(protoDir, name), "utf8"), name)
    }))

if (import.meta.main) {
  mkdirSync(join(protoDir, "generated"), { recursive: true })
  for (const { path, text } of generateAll()) writeFileSync(path, text)
}
