/** Claim: what is encoded is read back by protobufjs as it was: each value, each frame of each stack, each text; every id leads to something. */
import fc from "fast-check"
import { assert, it } from "vitest"

import { encodeProfile, type Frame, type Profile } from "../../../../src/services/http/pprof/Profile.ts"
import { readProfile } from "./readProfile.ts"

const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("", "a", "constructor", "__proto__"))
const type = fc.record({ type: text, unit: text })
const place = fc.nat({ max: 1_000_000 })
const frame: fc.Arbitrary<Frame> = fc.record({ name: text, systemName: text, file: text, line: place, column: place })

const profile: fc.Arbitrary<Profile> = fc.array(type, { minLength: 1, maxLength: 3 }).chain((types) =>
  fc.array(frame, { minLength: 1, maxLength: 5 }).chain((frames) =>
    fc.record({
      types: fc.constant(types),
      defaultType: text,
      samples: fc.array(
        fc.record({
          stack: fc.array(fc.constantFrom(...frames), { maxLength: 200 }),
          values: fc.array(fc.maxSafeNat(), { minLength: types.length, maxLength: types.length })
        })
      ),
      period: fc.record({ type: text, unit: text, every: fc.nat() }),
      takenAtMs: fc.nat({ max: 2 ** 42 }),
      durationMs: fc.nat({ max: 300_000 })
    })
  )
)

it("is read back as it was", () => {
  fc.assert(
    fc.property(profile, (profile) => {
      assert.deepStrictEqual(readProfile(encodeProfile(profile)), { ...profile, program: "csi-node-driver-registrar" })
    })
  )
})

it("each function is there once, however many stacks it is on", () => {
  const called = { name: "called", systemName: "called", file: "x", line: 1, column: 2 }
  const calls = { ...called, name: "calls" }
  const profileOf = (samples: Profile["samples"]): Profile => ({
    types: [{ type: "samples", unit: "count" }],
    defaultType: "samples",
    samples,
    period: { type: "", unit: "", every: 0 },
    takenAtMs: 0,
    durationMs: 0
  })
  const stack = [called, { ...called }, calls]
  const once = encodeProfile(profileOf([{ stack, values: [1] }]))
  const twice = encodeProfile(
    profileOf([
      { stack, values: [1] },
      { stack, values: [1] }
    ])
  )

  // Tag and length of a sample, of its three locations and of its value: two bytes each.
  assert.equal(twice.length - once.length, 2 + (2 + 3) + (2 + 1))
})
