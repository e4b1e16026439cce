/** Compiles functions without calling them. V8 has one way to do that: a debugger that asks where in a function one could stop. */
import { inspector } from "./inspector.ts"
import type { Range } from "./Pieces.ts"

/** The functions at `ranges` of the script that was compiled from `source` under the file name `name`, in that order. */
export const compileRanges = (name: string, source: string, ranges: ReadonlyArray<Range>): void => {
  const { session, ask } = inspector()
  let scriptId: string | undefined
  session.on("Debugger.scriptParsed", ({ params }) => {
    if (params.url === name) scriptId = params.scriptId
  })
  ask("Debugger.enable")
  const lineStarts = [0, ...Array.from(source.matchAll(/\n/g), ({ index }) => index + 1)]
  const position = (offset: number) => {
    const lineNumber = lineStarts.findLastIndex((start) => start <= offset)
    return { scriptId, lineNumber, columnNumber: offset - (lineStarts[lineNumber] ?? 0) }
  }
  for (const [start] of ranges) {
    ask("Debugger.getPossibleBreakpoints", {
      start: position(start + 1),
      end: position(start + 2),
      restrictToFunction: true
    })
  }
  ask("Debugger.disable")
  session.disconnect()
}
