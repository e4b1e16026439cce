/** Claim: of V8's live allocations none is lost and none is made up, whatever the tree. */
import fc from "fast-check"
import { assert, it } from "vitest"

import { type HeapNode, heapProfile } from "../../../../src/services/http/pprof/heapProfile.ts"
import { encodeProfile } from "../../../../src/services/http/pprof/Profile.ts"
import { callFrameOf, someCallFrame, someParents } from "./callFrames.ts"
import { readProfile, sumOf } from "./readProfile.ts"

const idOf = (place: number) => place + 1

const someHeap = someParents.chain((parents) => {
  const nodes = parents.length + 1
  return fc.record({
    parents: fc.constant(parents),
    frames: fc.array(someCallFrame, { minLength: nodes, maxLength: nodes }),
    sizes: fc.array(fc.nat({ max: 2 ** 40 }), { minLength: nodes, maxLength: nodes }),
    samples: fc.array(fc.nat({ max: parents.length }).map((place) => ({ nodeId: idOf(place) })))
  })
})

it("objects and bytes add up to what V8 has sampled, before and after encoding", () => {
  fc.assert(
    fc.property(someHeap, ({ parents, frames, sizes, samples }) => {
      const nodeAt = (place: number): HeapNode => ({
        id: idOf(place),
        callFrame: frames[place]!,
        selfSize: sizes[place]!,
        children: parents.flatMap((parent, i) => (parent === place ? [nodeAt(i + 1)] : []))
      })
      const made = heapProfile({ head: nodeAt(0), samples }, 32_768, 0)
      for (const each of [made, readProfile(encodeProfile(made))]) {
        assert.equal(sumOf(each, "objects"), samples.length)
        assert.equal(
          sumOf(each, "space"),
          sizes.reduce((sum, size) => sum + size, 0)
        )
        for (const { stack } of each.samples) assert.isNotEmpty(stack)
      }
    })
  )
})

it("says what was sampled and how often, by stacks from the innermost frame to the one below the root", () => {
  const leaf: HeapNode = { id: 3, callFrame: callFrameOf("leaf", "program.cjs"), selfSize: 64, children: [] }
  const middle: HeapNode = { id: 2, callFrame: callFrameOf("middle"), selfSize: 0, children: [leaf] }
  const head: HeapNode = { id: 1, callFrame: callFrameOf("(root)"), selfSize: 8, children: [middle] }

  const { types, defaultType, samples, period, takenAtMs, durationMs } = heapProfile(
    { head, samples: [{ nodeId: 3 }, { nodeId: 3 }] },
    32_768,
    7
  )

  assert.deepStrictEqual(types, [
    { type: "objects", unit: "count" },
    { type: "space", unit: "bytes" }
  ])
  assert.equal(defaultType, "space")
  assert.deepStrictEqual(period, { type: "space", unit: "bytes", every: 32_768 })
  assert.deepStrictEqual([takenAtMs, durationMs], [7, 0])
  assert.deepStrictEqual(
    samples.map(({ stack, values }) => [stack.map(({ name }) => name).join(" < "), ...values]),
    [
      ["(root)", 0, 8],
      ["leaf program.cjs:1:1 < middle", 2, 64]
    ]
  )
})
