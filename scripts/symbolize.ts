// Gives the functions of a profile that the registrar has served their names, files and lines in the source, by the source maps that a build of the same
// commit has left in dist/. Of a function that has no name of its own, such as the body of a generator, only the place is known. Not for
// executables of build:snapshot, whose program is one piece.
//
//   node scripts/symbolize.ts PROFILE OUT [DIST]
import { existsSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { SourceMap, type SourceMapPayload, type SourceMapping } from "node:module"
import { basename, join, relative, resolve } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"

import protobuf from "protobufjs"

import { pieceColumn } from "./binary/Pieces.ts"

const root = resolve(import.meta.dirname, "..")
const Profile = protobuf.loadSync(join(root, "proto/pprof/profile.proto")).lookupType("perftools.profiles.Profile")

/** What of a profile is read or changed here; texts are indices of `stringTable`. */
interface Wire {
  readonly stringTable: Array<string>
  readonly mapping: ReadonlyArray<{ readonly buildId: number }>
  readonly location: ReadonlyArray<{
    readonly line: ReadonlyArray<{ functionId: number; line: number; column: number }>
  }>
  readonly function: ReadonlyArray<{
    readonly id: number
    name: number
    readonly systemName: number
    filename: number
    startLine: number
  }>
}

/** A place counts from 0, as V8 and source maps do. */
interface Place {
  readonly line: number
  readonly column: number
}

interface Original extends Place {
  readonly name: string
  readonly file: string
}

/** Node's types have no name in it. */
interface Entry extends SourceMapping {
  readonly name?: string
}

/** The pieces of a build, each with its source map. */
class Build {
  readonly #folder: string
  readonly #pieces = new Map<string, Promise<{ readonly lines: ReadonlyArray<string>; readonly map: SourceMap }>>()

  constructor(folder: string) {
    this.#folder = folder
  }

  async isOf(commit: string): Promise<boolean> {
    const main = await readFile(join(this.#folder, "main.cjs"), "utf8")
    return ['"', "'", "`"].some((quote) => main.includes(quote + commit + quote))
  }

  /** Where a function of a piece begins in the source; nothing for what is no piece, or came from nowhere. `url` is V8's. */
  async original(url: string, systemName: string, { line, column }: Place): Promise<Original | undefined> {
    const name = basename(url)
    if (url.startsWith("node:") || !existsSync(join(this.#folder, `${name}.map`))) return undefined
    const { lines, map } = await this.#piece(name)
    const text = lines[line] ?? ""
    const at = url.includes("/") ? column : pieceColumn(text, line, column)
    const begin = entryAt(map, line, at)
    if (begin === undefined) return undefined
    return {
      name: this.#nameBefore(text, line, at, systemName, map) ?? systemName,
      file: sourceName(resolve(this.#folder, begin.originalSource)),
      line: begin.originalLine,
      column: begin.originalColumn
    }
  }

  /** V8 names a function after its declaration, which ends where the function begins, or after its class. What else it names is not minified. */
  #nameBefore(text: string, line: number, at: number, systemName: string, map: SourceMap): string | undefined {
    const name = systemName.slice(systemName.lastIndexOf(".") + 1)
    if (!/^[\w$]+$/.test(name)) return undefined
    const minified = `(?<![\\w$.])${name.replaceAll("$", "\\$&")}`
    const declaration = new RegExp(
      `${minified}(?=(=(async )?(function\\*?)?)?$)|${minified}(?==class\\b)|(?<=\\bclass )${minified}(?![\\w$])`,
      "g"
    )
    const column = Array.from(text.slice(0, at).matchAll(declaration)).at(-1)?.index
    if (column === undefined) return undefined
    const named = entryAt(map, line, column)
    return named?.generatedColumn === column ? named.name : undefined
  }

  #piece(name: string) {
    const known = this.#pieces.get(name)
    if (known !== undefined) return known
    const file = join(this.#folder, name)
    const piece = Promise.all([readFile(file, "utf8"), readFile(`${file}.map`, "utf8")]).then(([code, map]) => ({
      lines: code.split("\n"),
      map: new SourceMap(JSON.parse(map) as SourceMapPayload)
    }))
    this.#pieces.set(name, piece)
    return piece
  }
}

/** What the map tells of a place; nothing before its first entry, and where an entry leads nowhere. */
const entryAt = (map: SourceMap, line: number, column: number): Entry | undefined => {
  const entry: Partial<Entry> = map.findEntry(line, column)
  return entry.originalSource !== undefined && entry.generatedLine === line ? (entry as Entry) : undefined
}

/** Of a package from its name on, of ours from the repository's folder on. */
const sourceName = (path: string): string => relative(root, path).replace(/^.*\/node_modules\/|^(\.\.\/)+/, "")

/** A profile, compressed, with the names of the source. Throws when it comes from another commit than the build in `folder`. */
export const symbolize = async (profile: Uint8Array, folder: string): Promise<Buffer> => {
  const wire = Profile.toObject(Profile.decode(gunzipSync(profile)), {
    longs: Number,
    defaults: true,
    arrays: true
  }) as Wire
  const text = (at: number) => wire.stringTable[at] ?? ""
  const textId = (value: string) => wire.stringTable.push(value) - 1
  const commit = text(wire.mapping[0]?.buildId ?? 0)
  const build = new Build(folder)
  if (!(await build.isOf(commit))) throw new Error(`${folder} is not built from the profile's commit: ${commit}`)

  const lines = new Map(wire.location.flatMap(({ line }) => line.map((each) => [each.functionId, each] as const)))
  for (const each of wire.function) {
    const at = lines.get(each.id)
    if (at === undefined) continue
    const place = { line: at.line - 1, column: at.column - 1 }
    const found = await build.original(text(each.filename), text(each.systemName), place)
    if (found === undefined) continue
    const [line, column] = [found.line + 1, found.column + 1]
    each.name = textId(`${found.name === "" ? "(anonymous)" : found.name} ${found.file}:${line}:${column}`)
    each.filename = textId(found.file)
    each.startLine = line
    Object.assign(at, { line, column })
  }
  return gzipSync(Profile.encode(Profile.fromObject(wire)).finish())
}

if (import.meta.main) {
  const [profile, out, folder = join(root, "dist")] = process.argv.slice(2)
  if (profile === undefined || out === undefined) throw new Error("usage: node scripts/symbolize.ts PROFILE OUT [DIST]")
  await writeFile(out, await symbolize(await readFile(profile), folder))
}
