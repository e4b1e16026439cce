// Writes HTTP/2 connections as a client might, however odd: HPACK in every representation, with a dynamic table that it evicts by the
// book, and frames with padding, priority and continuations. For tests that need more than a well-behaved client sends.

export interface Header {
  readonly name: string
  readonly value: string
  /** How it is sent, where the table does not already hold it. */
  readonly as: "indexing" | "withoutIndexing" | "neverIndexed"
  /** Refer to the table where it holds the whole field, or at least the name; a plain encoder always does. */
  readonly useTable: boolean
  readonly huffmanName: boolean
  readonly huffmanValue: boolean
}

/** RFC 7541, appendix A: the entries that requests use. Indices matter, so the rest is left out by number. */
const staticTable = new Map<number, readonly [name: string, value: string]>([
  [1, [":authority", ""]],
  [2, [":method", "GET"]],
  [3, [":method", "POST"]],
  [4, [":path", "/"]],
  [6, [":scheme", "http"]],
  [31, ["content-type", ""]],
  [58, ["user-agent", ""]]
])
const dynamicStart = 62

/** Huffman code lengths of RFC 7541, appendix B, for the characters 0x20 to 0x7e; the code is canonical, so lengths are enough. */
const codeLengths = [
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6,
  5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13
]
const codes = ((): ReadonlyMap<number, string> => {
  const symbols = codeLengths.map((length, i) => ({ symbol: 0x20 + i, length }))
  symbols.push({ symbol: 0, length: 13 }) // the one other symbol that comes before some of ours
  symbols.sort((a, b) => a.length - b.length || a.symbol - b.symbol)
  let code = 0
  let before = 0
  return new Map(
    symbols.map(({ symbol, length }) => {
      code *= 2 ** (length - before)
      before = length
      return [symbol, (code++).toString(2).padStart(length, "0")]
    })
  )
})()

export function huffman(text: string): Buffer {
  const bits = Array.from(Buffer.from(text), (byte) => codes.get(byte) ?? "").join("")
  return Buffer.from(
    (bits.padEnd(Math.ceil(bits.length / 8) * 8, "1").match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
  )
}

function integer(value: number, prefixBits: number, high: number): Buffer {
  const max = 2 ** prefixBits - 1
  if (value < max) return Buffer.of(high | value)
  const bytes = [high | max]
  let rest = value - max
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

/** As encoders do, Huffman-coded only where that is not longer. */
function string(text: string, useHuffman: boolean): Buffer {
  const [plain, coded] = [Buffer.from(text), huffman(text)]
  return useHuffman && coded.length <= plain.length
    ? Buffer.concat([integer(coded.length, 7, 0x80), coded])
    : Buffer.concat([integer(plain.length, 7, 0), plain])
}

export class HpackWriter {
  #table: Array<{ readonly name: string; readonly value: string }> = []
  #maxBytes = 4096

  /** A header block; `tableBytes` announces a new size of the dynamic table, at most 4096, at its beginning. */
  block(headers: ReadonlyArray<Header>, tableBytes?: number): Buffer {
    const update = tableBytes === undefined ? Buffer.of() : integer(tableBytes, 5, 0x20)
    if (tableBytes !== undefined) {
      this.#maxBytes = tableBytes
      this.#evict()
    }
    return Buffer.concat([update, ...headers.map((header) => this.#field(header))])
  }

  #field({ name, value, as, useTable, huffmanName, huffmanValue }: Header): Buffer {
    const entries = [
      ...staticTable,
      ...this.#table.map((entry, i) => [dynamicStart + i, [entry.name, entry.value]] as const)
    ]
    const whole = entries.find(([, [n, v]]) => n === name && v === value)?.[0]
    if (useTable && whole !== undefined) return integer(whole, 7, 0x80)
    // The last one found, so that names are taken from the dynamic table too, where a plain encoder would choose the static one.
    const index = useTable ? (entries.findLast(([, [n]]) => n === name)?.[0] ?? 0) : 0
    const [bits, high] = { indexing: [6, 0x40], withoutIndexing: [4, 0], neverIndexed: [4, 0x10] }[as] as [
      number,
      number
    ]
    if (as === "indexing") {
      this.#table.unshift({ name, value })
      this.#evict()
    }
    return Buffer.concat([
      integer(index, bits, high),
      ...(index === 0 ? [string(name, huffmanName)] : []),
      string(value, huffmanValue)
    ])
  }

  #evict() {
    const bytes = () => this.#table.reduce((sum, { name, value }) => sum + name.length + value.length + 32, 0)
    while (bytes() > this.#maxBytes) this.#table.pop()
  }
}

export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(stream, 5)
  return Buffer.concat([header, payload])
}

export const settings = frame(4, 0, 0, Buffer.of())
export const settingsAck = frame(4, 1, 0, Buffer.of())
export const ping = frame(6, 0, 0, Buffer.alloc(8, "ping"))
export const data = (stream: number, payload: Uint8Array, end: boolean) => frame(0, end ? 1 : 0, stream, payload)

export interface Framing {
  /** Where to cut the block into CONTINUATION frames, as fractions of its length. */
  readonly cuts: ReadonlyArray<number>
  readonly padding?: number | undefined
  readonly priority?: boolean | undefined
  readonly endStream?: boolean | undefined
}

/** A HEADERS frame and its continuations. */
export function headers(stream: number, block: Buffer, { cuts, padding, priority, endStream = true }: Framing): Buffer {
  const at = [0, ...cuts.map((cut) => Math.floor(cut * block.length)).sort((a, b) => a - b), block.length]
  const fragments = at.slice(1).map((end, i) => block.subarray(at[i], end))
  return Buffer.concat(
    fragments.map((fragment, i) => {
      const endHeaders = i === fragments.length - 1 ? 0x04 : 0
      if (i > 0) return frame(9, endHeaders, stream, fragment)
      const flags = endHeaders | (endStream ? 0x01 : 0) | (padding === undefined ? 0 : 0x08) | (priority ? 0x20 : 0)
      const payload = [
        ...(padding === undefined ? [] : [padding]),
        ...(priority ? [0, 0, 0, 0, 15] : []),
        ...fragment,
        ...Buffer.alloc(padding ?? 0)
      ]
      return frame(1, flags, stream, Uint8Array.from(payload))
    })
  )
}
