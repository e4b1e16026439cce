/**
 * The pieces of the bundle without a file system: each is compiled under its name when it is first required, with the code cache that an earlier run
 * of it has left. Whatever is no piece is a module of node.
 */
import { Script } from "node:vm"

export interface Piece {
  /** One function expression of `exports`, `require` and `module`, in Latin-1: V8 then keeps a byte for a character. */
  readonly source: string
  /** From `createCachedData` of the same source, version of V8, and flags. */
  readonly codeCache?: Buffer
}

interface Module {
  exports: unknown
}
type Require = (id: string) => unknown

/** A `require` that finds pieces by `read`; `compiled` sees each script before it runs. */
export const pieces = (
  read: (name: string) => Piece,
  builtin: Require,
  compiled: (name: string, script: Script) => void
): Require => {
  const loaded = new Map<string, Module>()
  const requirePiece: Require = (id) => {
    if (!id.startsWith("./")) return builtin(id)
    const name = id.slice(2)
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const module: Module = { exports: {} }
    loaded.set(name, module)
    const { source, codeCache } = read(name)
    const script = new Script(
      source,
      codeCache === undefined ? { filename: name } : { filename: name, cachedData: codeCache }
    )
    compiled(name, script)
    script.runInThisContext()(module.exports, requirePiece, module)
    return module.exports
  }
  return requirePiece
}

const open = "(function(exports,require,module){"

const escapeLength = 6
const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`

/** What is a piece's source in the binary, from its file. */
export const pieceSource = (code: string): string => {
  const ascii = code.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "").replace(/[^\0-\xff]/g, escaped)
  return `${open}${ascii}\n})`
}

/** Where in a line of a piece's file that is which is at `column` of the same line in the binary; lines and columns count from 0. */
export const pieceColumn = (text: string, line: number, column: number): number => {
  const wanted = line === 0 ? column - open.length : column
  let at = 0
  for (let passed = 0; passed < wanted; at++) passed += (text[at] ?? "") > "\xff" ? escapeLength : 1
  return at
}

/** The name of a piece's code cache beside it. */
export const cacheOf = (name: string): string => `${name}.cache`

/** The name of the list of its functions that have run. */
export const ranOf = (name: string): string => `${name}.ran`

/** A function, by the offsets of its first character and the one after its last. */
export type Range = readonly [start: number, end: number]
