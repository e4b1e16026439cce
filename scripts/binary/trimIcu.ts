/**
 * Takes languages other than English out of the ICU data in node's executable, as node's own build with `small-icu` does it: 30 MB that no line of ours reads,
 * and more than a quarter of what a node would have to pull.
 *
 * The place of the data is told by a symbol that node exports, what may go by ICU's own tool, which refuses to leave anything without what it depends on. The
 * rest of the place becomes zeros, so nothing else in the file moves.
 */
import { mkdir, open, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { tool } from "../tools.ts"

/** Folders of which nothing is needed for English: rules for breaking and spelling, transliterations. Intl.Segmenter does not work without the first. */
const wholly = /^(brkitr|rbnf|translit)\//
/** Character sets, names of characters, characters that look alike, profiles for names in protocols. */
const kinds = /(\.cnv|\.spp|\/?unames\.icu|\.cfu)$/
/** A bundle of a language; others have longer names. */
const language = /(?:^|\/)([a-z]{2,3})(_[A-Za-z_0-9]*)?\.res$/
const notLanguages = /(?:^|\/)res_index\.res$/

const mayGo = (item: string): boolean => {
  if (wholly.test(item) || kinds.test(item)) return true
  const [, name, region] = language.exec(item) ?? []
  return name !== undefined && !notLanguages.test(item) && !(name === "en" && region === undefined)
}

interface Place {
  /** Such as icudt78: ICU's own name for it, by which it finds what is in it. */
  readonly name: string
  readonly offset: number
  readonly size: number
}

/** @throws when node has its data elsewhere */
const placeOf = async (executable: string): Promise<Place> => {
  const options = ["--dyn-syms", "--program-headers", "--wide"]
  const text = await tool("readelf", [...options, executable], { env: { ...process.env, LC_ALL: "C" } })
  const symbol = /^\s*\d+: ([0-9a-f]+)\s+(0x[0-9a-f]+|\d+) OBJECT\s.*\s(icudt\d+)_dat$/m.exec(text)
  if (symbol === null) throw new Error(`${executable} exports no data of ICU; is it built with another ICU?`)
  const [, hex = "", length = "", name = ""] = symbol
  const address = Number.parseInt(hex, 16)
  const segments = text.matchAll(/^\s+LOAD\s+(0x[0-9a-f]+) (0x[0-9a-f]+) 0x[0-9a-f]+ (0x[0-9a-f]+)/gm)
  for (const [, offset, start, size] of [...segments].map((segment) => segment.map(Number))) {
    if (offset === undefined || start === undefined || size === undefined) continue
    if (address >= start && address < start + size)
      return { name, offset: offset + address - start, size: Number(length) }
  }
  throw new Error(`the data of ICU in ${executable} lies in no segment of the file`)
}

/** Changes the file in place; `work` is an empty folder for what is made on the way. */
export const trimIcu = async (executable: string, work: string): Promise<void> => {
  const { name, offset, size } = await placeOf(executable)
  // Little-endian, as both architectures are. The tool names what is within after the file.
  const file = `${name}l.dat`
  const trimmed = join(work, "trimmed")
  await mkdir(trimmed, { recursive: true })
  const handle = await open(executable, "r+")
  try {
    const data = Buffer.alloc(size)
    await handle.read(data, 0, size, offset)
    await writeFile(join(work, file), data)
    const items = (await tool("icupkg", ["--list", join(work, file)])).trim().split("\n")
    await writeFile(join(work, "remove.txt"), items.filter(mayGo).join("\n"))
    await tool("icupkg", ["--remove", join(work, "remove.txt"), join(work, file), join(trimmed, file)])
    const output = await open(join(trimmed, file))
    const rest = Buffer.alloc(size)
    await output.read(rest, 0, size).finally(() => output.close())
    await handle.write(rest, 0, size, offset)
  } finally {
    await handle.close()
  }
}
