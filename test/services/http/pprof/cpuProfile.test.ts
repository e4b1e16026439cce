/** Claim: of V8's samples and times none is lost and none is made up, whatever the tree, and each stands at the stack it was taken of. */
import type { Profiler } from "node:inspector"

import fc from "fast-check"
import { assert, it } from "vitest"

import { cpuProfile } from "../../../../src/services/http/pprof/cpuProfile.ts"
import { frameOf } from "../../../../src/services/http/pprof/frameOf.ts"
import { encodeProfile, type Frame } from "../../../../src/services/http/pprof/Profile.ts"
import { callFrameOf, someCallFrame, someParents } from "./callFrames.ts"
import { readProfile, sumOf } from "./readProfile.ts"

const idOf = (place: number) => place + 1

/** The first node is the root. */
const profileOf = (
  parents: ReadonlyArray<number>,
  frames: ReadonlyArray<Profiler.ProfileNode["callFrame"]>,
  samples: ReadonlyArray<number>,
  timeDeltas: ReadonlyArray<number>
): Profiler.Profile => ({
  nodes: [-1, ...parents].map((_, place) => ({
    id: idOf(place),
    callFrame: place === 0 ? callFrameOf("(root)") : frames[place - 1]!,
    children: parents.flatMap((parent, i) => (parent === place ? [idOf(i + 1)] : []))
  })),
  startTime: 5_000_000,
  endTime: 7_500_000,
  samples: [...samples],
  timeDeltas: [...timeDeltas]
})

const someProfile = someParents.chain((parents) =>
  fc
    .record({
      frames: fc.array(someCallFrame, { minLength: parents.length, maxLength: parents.length }),
      taken: fc.array(fc.tuple(fc.nat({ max: parents.length }), fc.integer({ min: -500, max: 5_000 })))
    })
    .map(({ frames, taken }) => ({
      parents,
      taken,
      profile: profileOf(
        parents,
        frames,
        taken.map(([place]) => idOf(place)),
        taken.map(([, delta]) => delta)
      )
    }))
)

it("samples and time add up to what V8 has counted, before and after encoding", () => {
  fc.assert(
    fc.property(someProfile, ({ taken, profile }) => {
      let now = 0
      let latest = 0
      for (const [, delta] of taken) {
        now += delta
        latest = Math.max(latest, now)
      }
      const made = cpuProfile(profile, 1_000, 0)
      for (const each of [made, readProfile(encodeProfile(made))]) {
        assert.equal(sumOf(each, "samples"), taken.length)
        assert.equal(sumOf(each, "cpu"), latest * 1_000)
      }
    })
  )
})

it("each sample stands at the stack it was taken of, from the innermost frame to the one below the root", () => {
  fc.assert(
    fc.property(someProfile, ({ parents, taken, profile }) => {
      const stackOf = (place: number): ReadonlyArray<Frame> => {
        const frame = frameOf(profile.nodes[place]!.callFrame)
        const parent = parents[place - 1]
        return parent === undefined || parent === 0 ? [frame] : [frame, ...stackOf(parent)]
      }
      const expected: Record<string, number> = {}
      for (const [place] of taken) {
        const key = JSON.stringify(stackOf(place))
        expected[key] = (expected[key] ?? 0) + 1
      }

      const seen: Record<string, number> = {}
      for (const { stack, values } of cpuProfile(profile, 1_000, 0).samples) {
        const key = JSON.stringify(stack)
        seen[key] = (seen[key] ?? 0) + values[0]!
      }
      assert.deepStrictEqual(seen, expected)
    })
  )
})

it("says what was sampled, how often, when and for how long", () => {
  const idle = callFrameOf("(idle)")
  const profile = cpuProfile(profileOf([0], [idle], [2, 2], [1_500, 1_000]), 1_000, 1_700_000_000_000)

  assert.deepStrictEqual(profile, {
    types: [
      { type: "samples", unit: "count" },
      { type: "cpu", unit: "nanoseconds" }
    ],
    defaultType: "cpu",
    samples: [
      { stack: [{ name: "(idle)", systemName: "(idle)", file: "", line: 0, column: 0 }], values: [2, 2_500_000] }
    ],
    period: { type: "cpu", unit: "nanoseconds", every: 1_000_000 },
    takenAtMs: 1_700_000_000_000,
    durationMs: 2_500
  })
})

it.each([
  [callFrameOf("(garbage collector)"), "(garbage collector)"],
  [callFrameOf("emit", "node:events"), "emit node:events:1:1"],
  [callFrameOf("t", "program.cjs"), "t program.cjs:1:1"],
  [callFrameOf("t", "/app/dist/program.cjs"), "t program.cjs:1:1"],
  [callFrameOf("", "/app/dist/grpc.cjs"), "(anonymous) grpc.cjs:1:1"]
])("a frame has a name that tells its place by the file's name, and keeps the folder: %#", (frame, name) => {
  const seen = frameOf(frame)
  assert.equal(seen.name, name)
  assert.equal(seen.systemName, frame.functionName)
  assert.equal(seen.file, frame.url)
})
