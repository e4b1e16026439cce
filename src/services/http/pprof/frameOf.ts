/** A call frame of V8 as a frame of a profile. */
import type { Runtime } from "node:inspector"

import type { Frame } from "./Profile.ts"

/**
 * Functions of the bundle are minified, many are called `t`: the place behind the name tells them apart. There pieces go by their file names; `file` keeps
 * the folder, which the executable has none of. Frames such as `(idle)` have no place.
 */
export const frameOf = ({ functionName, url: file, lineNumber, columnNumber }: Runtime.CallFrame): Frame => {
  const name = functionName === "" ? "(anonymous)" : functionName
  if (file === "") return { name, systemName: functionName, file, line: 0, column: 0 }
  const [line, column] = [lineNumber + 1, columnNumber + 1]
  const shortFile = file.startsWith("node:") ? file : file.slice(file.lastIndexOf("/") + 1)
  return { name: `${name} ${shortFile}:${line}:${column}`, systemName: functionName, file, line, column }
}
