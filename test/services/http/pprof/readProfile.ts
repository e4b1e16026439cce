/** Reads a profile as pprof does, by protobufjs and the schema. Throws where an id or a text leads nowhere, as pprof would. */
import { resolve } from "node:path"

import protobuf from "protobufjs"

import type { Frame, Profile } from "../../../../src/services/http/pprof/Profile.ts"

const schema = resolve(import.meta.dirname, "../../../../proto/pprof/profile.proto")
const Message = protobuf.loadSync(schema).lookupType("perftools.profiles.Profile")

interface Wire {
  readonly stringTable: ReadonlyArray<string>
  readonly sampleType: ReadonlyArray<{ readonly type: number; readonly unit: number }>
  readonly sample: ReadonlyArray<{ readonly locationId: ReadonlyArray<number>; readonly value: ReadonlyArray<number> }>
  readonly mapping: ReadonlyArray<{ readonly id: number; readonly filename: number; readonly hasFunctions: boolean }>
  readonly location: ReadonlyArray<{
    readonly id: number
    readonly mappingId: number
    readonly line: ReadonlyArray<{ readonly functionId: number; readonly line: number; readonly column: number }>
  }>
  readonly function: ReadonlyArray<{
    readonly id: number
    readonly name: number
    readonly systemName: number
    readonly filename: number
    readonly startLine: number
  }>
  readonly timeNanos: number
  readonly durationNanos: number
  readonly periodType: { readonly type: number; readonly unit: number }
  readonly period: number
  readonly defaultSampleType: number
}

export const readProfile = (bytes: Uint8Array): Profile & { readonly program: string } => {
  const wire = Message.toObject(Message.decode(bytes), { longs: Number, defaults: true, arrays: true }) as Wire
  if (wire.stringTable[0] !== "") throw new Error("the first text is not empty")
  const text = (at: number) => known(wire.stringTable[at], "text", at)
  const typeOf = ({ type, unit }: { type: number; unit: number }) => ({ type: text(type), unit: text(unit) })
  const mappings = byId(wire.mapping, "mapping")
  const functions = byId(wire.function, "function")
  const locations = byId(wire.location, "location")
  const frame = (id: number): Frame => {
    const { mappingId, line: lines } = known(locations.get(id), "location", id)
    known(mappings.get(mappingId), "mapping", mappingId)
    const [line] = lines
    if (line === undefined || lines.length > 1) throw new Error(`location ${id} has ${lines.length} lines`)
    const { name, systemName, filename, startLine } = known(functions.get(line.functionId), "function", line.functionId)
    if (startLine !== line.line) throw new Error(`location ${id} is not where its function begins`)
    return {
      name: text(name),
      systemName: text(systemName),
      file: text(filename),
      line: line.line,
      column: line.column
    }
  }
  const [mapping] = wire.mapping
  if (mapping?.hasFunctions !== true) throw new Error("pprof would look for the program's file")
  return {
    types: wire.sampleType.map(typeOf),
    defaultType: text(wire.defaultSampleType),
    samples: wire.sample.map(({ locationId, value }) => {
      if (value.length !== wire.sampleType.length) throw new Error(`a sample has ${value.length} values`)
      return { stack: locationId.map(frame), values: value }
    }),
    period: { ...typeOf(wire.periodType), every: wire.period },
    takenAtMs: Math.round(wire.timeNanos / 1_000_000),
    durationMs: wire.durationNanos / 1_000_000,
    program: text(mapping.filename)
  }
}

/** The values of one type, added up. */
export const sumOf = ({ types, samples }: Pick<Profile, "types" | "samples">, type: string): number => {
  const at = types.findIndex((each) => each.type === type)
  return samples.reduce((sum, { values }) => sum + (values[at] ?? Number.NaN), 0)
}

const known = <A>(found: A | undefined, what: string, id: number): A => {
  if (found === undefined) throw new Error(`there is no ${what} ${id}`)
  return found
}

const byId = <A extends { readonly id: number }>(all: ReadonlyArray<A>, what: string): ReadonlyMap<number, A> => {
  const map = new Map(all.map((each) => [each.id, each]))
  if (map.size !== all.length || map.has(0)) throw new Error(`a ${what} has the id 0, or that of another`)
  return map
}
