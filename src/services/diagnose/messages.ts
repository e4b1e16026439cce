/**
 * What is wanted of the driver's answers. They are read field by field (numbers: container-storage-interface/spec, csi.proto, v1): the codecs of proto/ are
 * for the messages that a registrar speaks, and have no nested ones.
 */
import { Reader } from "../../../proto/codec.ts"

type Fields = ReadonlyMap<number, ReadonlyArray<Buffer | number>>

const wireType = { varint: 0, delimited: 2 }

/** By number; throws an Error on bytes that are no message. */
const fieldsOf = (bytes: Uint8Array): Fields => {
  const reader = new Reader(bytes)
  const fields = new Map<number, Array<Buffer | number>>()
  while (!reader.atEnd) {
    const tag = reader.varint()
    const [number, type] = [Math.floor(tag / 8), tag % 8]
    const values = fields.get(number) ?? []
    fields.set(number, values)
    if (type === wireType.varint) values.push(reader.varint())
    else if (type === wireType.delimited) values.push(reader.delimited())
    else reader.skip(type)
  }
  return fields
}

const messagesAt = (fields: Fields, number: number): ReadonlyArray<Buffer> =>
  (fields.get(number) ?? []).filter((value) => typeof value !== "number")

const textAt = (fields: Fields, number: number): string => messagesAt(fields, number).at(-1)?.toString() ?? ""

const numberAt = (fields: Fields, number: number): number => {
  const value = fields.get(number)?.at(-1)
  return typeof value === "number" ? value : 0
}

/** `undefined` for bytes that are no message. */
const reading =
  <A>(read: (fields: Fields) => A) =>
  (bytes: Uint8Array): A | undefined => {
    try {
      return read(fieldsOf(bytes))
    } catch {
      return undefined
    }
  }

export const readPluginInfo = reading((fields) => ({ name: textAt(fields, 1), version: textAt(fields, 2) }))

/** A driver that does not say is ready. */
export const readProbe = reading((fields) => {
  const ready = messagesAt(fields, 1).at(-1)
  return { ready: ready === undefined || numberAt(fieldsOf(ready), 1) !== 0 }
})

export const readCapabilities = reading((fields) => ({ count: messagesAt(fields, 1).length }))

export const readNodeInfo = reading((fields) => {
  const topology = messagesAt(fields, 3).flatMap((segments) => messagesAt(fieldsOf(segments), 1).map(fieldsOf))
  return {
    nodeId: textAt(fields, 1),
    /** 0: the driver does not say. */
    maxVolumes: numberAt(fields, 2),
    topology: topology.map((entry) => `${textAt(entry, 1)}=${textAt(entry, 2)}`)
  }
})

/** The name in a GetInfo of the kubelet's registration API. */
export const readRegisteredName = reading((fields) => textAt(fields, 2))
