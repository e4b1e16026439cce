/** A profile, whatever was sampled, and its form in pprof's protobuf (proto/pprof/profile.proto). */
import { release } from "../../../version.ts"
import { Message } from "./Message.ts"

export interface ValueType {
  readonly type: string
  readonly unit: string
}

/** A function on a stack. */
export interface Frame {
  /** Told apart by this alone: pprof adds up what has the same name. */
  readonly name: string
  /** As V8 has it; empty for a function without a name. */
  readonly systemName: string
  readonly file: string
  /** Where the function begins, from 1; 0 where that is not known. */
  readonly line: number
  readonly column: number
}

export interface Sample {
  /** The innermost frame first. */
  readonly stack: ReadonlyArray<Frame>
  /** One for each type of the profile: whole numbers of 0 or more. */
  readonly values: ReadonlyArray<number>
}

export interface Profile {
  readonly types: ReadonlyArray<ValueType>
  /** The type that is shown to who asks for none. */
  readonly defaultType: string
  readonly samples: ReadonlyArray<Sample>
  /** What lies between two samples, and how much of it. */
  readonly period: ValueType & { readonly every: number }
  /** In milliseconds since the epoch. */
  readonly takenAtMs: number
  /** 0 for a profile of a moment. */
  readonly durationMs: number
}

const program = "csi-node-driver-registrar"
const mappingId = 1
const nanosPerMs = 1_000_000

/** The bytes, not compressed. The commit that was built goes along: whoever has its source maps finds the source by it. */
export const encodeProfile = (profile: Profile): Buffer => {
  const strings = new Map([["", 0]])
  const functions = new Map<string, { readonly id: number; readonly frame: Frame }>()
  const message = new Message()

  const text = (value: string): number => {
    const id = strings.get(value) ?? strings.size
    strings.set(value, id)
    return id
  }
  const typeOf = ({ type, unit }: ValueType) => new Message().number(1, text(type)).number(2, text(unit))
  /** Each function is one location. */
  const idOf = (frame: Frame): number => {
    const key = JSON.stringify([frame.name, frame.systemName, frame.file, frame.line, frame.column])
    const known = functions.get(key)
    if (known !== undefined) return known.id
    const id = functions.size + 1
    functions.set(key, { id, frame })
    return id
  }

  for (const type of profile.types) message.message(1, typeOf(type))
  for (const { stack, values } of profile.samples) {
    message.message(2, new Message().numbers(1, stack.map(idOf)).numbers(2, values))
  }
  message.message(
    3,
    new Message()
      .number(1, mappingId)
      .number(5, text(program))
      .number(6, text(release.commit))
      .bool(7, true)
      .bool(8, true)
      .bool(9, true)
      .bool(10, true)
  )
  for (const { id, frame } of functions.values()) {
    const line = new Message().number(1, id).number(2, frame.line).number(3, frame.column)
    message.message(4, new Message().number(1, id).number(2, mappingId).message(4, line))
  }
  for (const { id, frame } of functions.values()) {
    const { name, systemName, file, line } = frame
    message.message(
      5,
      new Message()
        .number(1, id)
        .number(2, text(name))
        .number(3, text(systemName))
        .number(4, text(file))
        .number(5, line)
    )
  }
  message
    .number(9, profile.takenAtMs * nanosPerMs)
    .number(10, Math.round(profile.durationMs * nanosPerMs))
    .message(11, typeOf(profile.period))
    .number(12, profile.period.every)
    .number(14, text(profile.defaultType))
  for (const value of strings.keys()) message.string(6, value)
  return message.encode()
}
