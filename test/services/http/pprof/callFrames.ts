/** Call frames and trees of them, as V8 has them. */
import type { Runtime } from "node:inspector"

import fc from "fast-check"

export const callFrameOf = (functionName: string, url = ""): Runtime.CallFrame => ({
  functionName,
  scriptId: "0",
  url,
  lineNumber: url === "" ? -1 : 0,
  columnNumber: url === "" ? -1 : 0
})

export const someCallFrame: fc.Arbitrary<Runtime.CallFrame> = fc.record({
  functionName: fc.constantFrom("", "t", "e", "(program)", "run"),
  scriptId: fc.constant("1"),
  url: fc.constantFrom("", "node:events", "/app/dist/program.cjs", "program.cjs"),
  lineNumber: fc.nat({ max: 50 }),
  columnNumber: fc.nat({ max: 500 })
})

/** For each node but the first, which is the root, the place of its parent, which comes before it. */
export const someParents: fc.Arbitrary<ReadonlyArray<number>> = fc
  .array(fc.nat({ max: 1_000 }), { maxLength: 30 })
  .map((picks) => picks.map((pick, i) => pick % (i + 1)))
