// The protobuf wire format, as far as the messages in this folder need it: string, bool, repeated string and map<string, string>.
//
// proto/generated/ holds tables made from the .proto files; this file reads them. There is no code generation at run time and no
// reflection: protobufjs costs 29 ms at start for a handful of messages. Bytes are those of @grpc/proto-loader: a field that is
// present in the object is written, even with its default value, in the order of field numbers.
import { isUtf8 } from "node:buffer"

import type { MethodDefinition } from "@grpc/grpc-js"

export interface Codec<T> {
  /** Lone surrogates become U+FFFD, so the bytes are always valid. */
  readonly encode: (message: Partial<T>) => Buffer
  /**
   * Every field is set, to its default where the bytes have none. Unknown fields, and known ones of another wire type, are skipped;
   * the last of several values wins. Throws an Error on truncated input, invalid UTF-8, and groups, which proto3 does not have.
   */
  readonly decode: (bytes: Uint8Array) => T
}

export type FieldKind = "bool" | "string" | "repeated string" | "map<string, string>"

/** One field of a message; a table of them is in ascending order of numbers. */
export type Field<Name extends string = string> = readonly [number: number, name: Name, kind: FieldKind]

const wireType = { varint: 0, fixed64: 1, delimited: 2, fixed32: 5 } as const
const maxFieldNumber = 2 ** 29 - 1
const maxVarintBytes = 10

export const codec = <T extends object>(fields: ReadonlyArray<Field<keyof T & string>>): Codec<T> => ({
  encode: (message) =>
    Buffer.concat(fields.flatMap(([number, name, kind]) => encodeField(number, kind, message[name]))),
  decode: (bytes) => decodeMessage(bytes, fields) as T
})

/** The definition of a unary method, for grpc-js's servers and clients. */
export const unary = <Request, Response>(
  path: string,
  request: Codec<Request>,
  response: Codec<Response>
): MethodDefinition<Request, Response> => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: request.encode,
  requestDeserialize: request.decode,
  responseSerialize: response.encode,
  responseDeserialize: response.decode
})

function encodeField(number: number, kind: FieldKind, value: unknown): Array<Buffer> {
  if (value === undefined || value === null) return []
  switch (kind) {
    case "bool":
      return [varint(number * 8 + wireType.varint), varint(value ? 1 : 0)]
    case "string":
      return delimited(number, Buffer.from(value as string))
    case "repeated string":
      return (value as ReadonlyArray<string>).flatMap((item) => delimited(number, Buffer.from(item)))
    case "map<string, string>":
      return Object.entries(value).flatMap(([key, item]) =>
        delimited(number, Buffer.concat([...delimited(1, Buffer.from(key)), ...delimited(2, Buffer.from(item))]))
      )
  }
}

function delimited(number: number, content: Buffer): Array<Buffer> {
  return [varint(number * 8 + wireType.delimited), varint(content.length), content]
}

function varint(value: number): Buffer {
  const bytes: Array<number> = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80)
  bytes.push(rest)
  return Buffer.from(bytes)
}

const entryFields: ReadonlyArray<Field> = [
  [1, "key", "string"],
  [2, "value", "string"]
]

function decodeMessage(bytes: Uint8Array, fields: ReadonlyArray<Field>): Record<string, unknown> {
  const values = new Map<Field, unknown>(fields.map((field) => [field, initial(field[2])]))
  const reader = new Reader(bytes)
  while (!reader.atEnd) {
    const tag = reader.varint()
    const number = Math.floor(tag / 8)
    if (number < 1 || number > maxFieldNumber) throw new Error(`invalid field number ${number}`)
    const field = fields.find(([known, , kind]) => known === number && wireTypeOf(kind) === tag % 8)
    if (field === undefined) reader.skip(tag % 8)
    else values.set(field, decodeField(field[2], reader, values.get(field)))
  }
  // fromEntries, unlike assignment, takes __proto__ for a name like any other.
  return Object.fromEntries(
    Array.from(values, ([[, name, kind], value]) => [
      name,
      kind === "map<string, string>" ? Object.fromEntries(value as Map<string, string>) : value
    ])
  )
}

function initial(kind: FieldKind): unknown {
  switch (kind) {
    case "bool":
      return false
    case "string":
      return ""
    case "repeated string":
      return []
    case "map<string, string>":
      return new Map()
  }
}

function wireTypeOf(kind: FieldKind): number {
  return kind === "bool" ? wireType.varint : wireType.delimited
}

function decodeField(kind: FieldKind, reader: Reader, before: unknown): unknown {
  switch (kind) {
    case "bool":
      return reader.varint() !== 0
    case "string":
      return text(reader.delimited())
    case "repeated string":
      ;(before as Array<string>).push(text(reader.delimited()))
      return before
    case "map<string, string>": {
      const { key, value } = decodeMessage(reader.delimited(), entryFields)
      return (before as Map<unknown, unknown>).set(key, value)
    }
  }
}

function text(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Error("string field contains invalid UTF-8")
  return bytes.toString()
}

/** Each read moves forward by a byte at least, or throws; so no input makes a decoder loop. */
export class Reader {
  readonly #bytes: Buffer
  #position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get atEnd(): boolean {
    return this.#position === this.#bytes.length
  }

  /** Exact up to 2^53, which is past every legal tag and length; beyond that only its being zero or not counts. */
  varint(): number {
    let value = 0
    for (let i = 0; i < maxVarintBytes; i++) {
      const byte = this.#take(1)[0] as number
      value += (byte & 0x7f) * 2 ** (7 * i)
      if (byte < 0x80) return value
    }
    throw new Error("varint is longer than 10 bytes")
  }

  delimited(): Buffer {
    return this.#take(this.varint())
  }

  skip(type: number): void {
    switch (type) {
      case wireType.varint:
        this.varint()
        return
      case wireType.fixed64:
        this.#take(8)
        return
      case wireType.delimited:
        this.delimited()
        return
      case wireType.fixed32:
        this.#take(4)
        return
      default:
        throw new Error(`unsupported wire type ${type}`)
    }
  }

  #take(length: number): Buffer {
    if (length > this.#bytes.length - this.#position) throw new Error("unexpected end of message")
    this.#position += length
    return this.#bytes.subarray(this.#position - length, this.#position)
  }
}
