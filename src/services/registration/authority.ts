// Lets kubelets before 1.29 in. They are grpc-go before 1.57, which sends the raw socket path as `:authority` (grpc-go #6428 escapes
// it); nghttp2 resets such a stream before any JavaScript sees it, and no option of node:http2 changes that. So the bytes from the
// client pass through here, and every literal value of `:authority` is overwritten with a legal one. Remove this file, and hand the
// accepted sockets to grpc-js as they are, when no kubelet before 1.29 is left to serve.
//
// The bytes are patched where they lie (HTTP/2: RFC 9113; its header compression, HPACK: RFC 7541): a value keeps its length on the
// wire, and a Huffman-coded one becomes a plain one of as many bytes. Hence no frame changes its length, nothing is held back, and
// DATA is stepped over unread. The dynamic table of HPACK stays consistent too: every entry keeps its place, and its size, which
// counts decoded bytes, stays equal (plain) or shrinks (Huffman, which encoders use where it shortens). A decoder with smaller
// entries evicts later than the encoder believes, so it still has every entry that the encoder may refer to.
//
// Whatever breaks the rules is left as it is from there on, for nghttp2 to refuse.
import { Duplex } from "node:stream"

/**
 * The connection with its reading side rewritten. It belongs to the result from then on: reading, writing, half-close, errors and
 * destruction pass through in both directions, and an error without a listener ends this connection only, never the process.
 * Closed means that the connection beneath has closed, with none of our listeners left on it.
 */
export const withLegalAuthority = (connection: Duplex): Duplex => new LegalAuthority(connection)

const prefaceBytes = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
/** SETTINGS_MAX_FRAME_SIZE that nghttp2 announces for us; a longer frame is a connection error. */
const maxFrameSize = 16_384
/** As many entries as fit into SETTINGS_HEADER_TABLE_SIZE, 4096 bytes, at 32 bytes and more each. */
const maxTableEntries = 128
const firstDynamicIndex = 62

const frameType = { headers: 1, continuation: 9 }
const flag = { endHeaders: 0x04, padded: 0x08, priority: 0x20 }

const authorityName = { index: 1, plain: Buffer.from(":authority"), huffman: Buffer.from("b83b5339ec327d7f", "hex") }
const legalValue = Buffer.from("localhost")
const filler = ".".charCodeAt(0)

class LegalAuthority extends Duplex {
  readonly #connection: Duplex
  readonly #rewrite = rewriter()

  constructor(connection: Duplex) {
    super()
    this.#connection = connection
    connection.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError).on("close", this.#onClose)
    connection.pause()
    this.on("error", ignore)
  }

  override _read() {
    this.#connection.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void) {
    this.#connection.write(chunk, encoding, callback)
  }

  /** Frames that were written in one turn leave in one system call, as they would on the bare socket. */
  override _writev(
    chunks: Array<{ chunk: Buffer; encoding: BufferEncoding }>,
    callback: (error?: Error | null) => void
  ) {
    this.#connection.cork()
    for (const [i, { chunk, encoding }] of chunks.entries()) {
      this.#connection.write(chunk, encoding, i === chunks.length - 1 ? callback : undefined)
    }
    this.#connection.uncork()
  }

  override _final(callback: (error?: Error | null) => void) {
    this.#connection.end(callback)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void) {
    if (this.#connection.closed) return callback(error)
    this.#connection.once("close", () => callback(error))
    this.#connection.destroy()
  }

  readonly #onData = (chunk: Buffer) => {
    this.#rewrite(chunk)
    if (!this.push(chunk)) this.#connection.pause()
  }

  readonly #onEnd = () => {
    this.push(null)
  }

  readonly #onError = (error: Error) => {
    this.destroy(error)
  }

  readonly #onClose = () => {
    this.#connection
      .off("data", this.#onData)
      .off("end", this.#onEnd)
      .off("error", this.#onError)
      .off("close", this.#onClose)
    // What came before an orderly end is still to be read.
    if (this.#connection.readableEnded && !this.readableEnded) this.once("end", () => this.destroy())
    else this.destroy()
  }
}

function ignore() {}

/** A function that patches the chunks of one connection, in their order, whichever way the bytes are cut into chunks. */
export function rewriter(): (chunk: Buffer) => void {
  const here = { chunk: Buffer.alloc(0) as Buffer, at: 0 }
  const scan = scanConnection(here)
  let skip = scan.next().value
  return (chunk) => {
    here.chunk = chunk
    here.at = 0
    while (here.at + skip < chunk.length) {
      here.at += skip
      skip = scan.next(chunk[here.at] as number).value
      here.at++
    }
    skip -= chunk.length - here.at
  }
}

/** Yields how many bytes to pass over, is handed the byte after them. */
type Scan<A> = Generator<number, A, number>

function* scanConnection(here: { readonly chunk: Buffer; readonly at: number }): Scan<never> {
  /** Bytes of no interest before the next one that is. */
  let skip = 0
  /** Bytes of the header block that are left in this frame, and the padding after them. */
  let fragment = 0
  let padding = 0
  let endHeaders = true
  /** The dynamic table, newest first: is the entry's name `:authority`? Entries that were evicted do no harm. */
  const table: Array<boolean> = []

  for (const expected of prefaceBytes) if ((yield* next()) !== expected) yield* giveUp()
  for (;;) {
    yield* readFrameHeader()
    while (yield* blockGoesOn()) yield* readField()
  }

  function* next(): Scan<number> {
    const distance = skip
    skip = 0
    return yield distance
  }

  function* giveUp(): Scan<never> {
    for (;;) yield Number.POSITIVE_INFINITY
  }

  function patch(byte: number) {
    here.chunk[here.at] = byte
  }

  function* readFrameHeader(): Scan<void> {
    const length = (yield* next()) * 0x10000 + (yield* next()) * 0x100 + (yield* next())
    const type = yield* next()
    const flags = yield* next()
    const continues = !endHeaders
    if (length > maxFrameSize || continues !== (type === frameType.continuation)) yield* giveUp()
    skip = 4 // the stream's id
    if (type !== frameType.headers && type !== frameType.continuation) {
      skip += length
      return
    }
    endHeaders = (flags & flag.endHeaders) !== 0
    fragment = length
    padding = 0
    if (type === frameType.headers && flags & flag.padded) {
      padding = yield* next()
      fragment -= 1 + padding
    }
    if (type === frameType.headers && flags & flag.priority) {
      skip += 5
      fragment -= 5
    }
    if (fragment < 0) yield* giveUp()
    if (fragment === 0) skip += padding
  }

  function* blockGoesOn(): Scan<boolean> {
    while (fragment === 0 && !endHeaders) yield* readFrameHeader()
    return fragment > 0
  }

  function advance(bytes: number) {
    fragment -= bytes
    if (fragment === 0) skip += padding
  }

  function* nextInBlock(): Scan<number> {
    if (!(yield* blockGoesOn())) yield* giveUp()
    const byte = yield* next()
    advance(1)
    return byte
  }

  function* skipInBlock(length: number): Scan<void> {
    for (let rest = length; rest > 0; ) {
      if (!(yield* blockGoesOn())) yield* giveUp()
      const step = Math.min(rest, fragment)
      skip += step
      advance(step)
      rest -= step
    }
  }

  /** One field representation, RFC 7541 section 6. */
  function* readField(): Scan<void> {
    const first = yield* nextInBlock()
    if (first & 0x80) {
      yield* readInteger(first, 7) // an indexed field
    } else if ((first & 0xe0) === 0x20) {
      yield* readInteger(first, 5) // a new size for the dynamic table
    } else {
      const addsEntry = (first & 0x40) !== 0
      const index = yield* readInteger(first, addsEntry ? 6 : 4)
      const isAuthority =
        index === 0 ? yield* readName() : index === authorityName.index || table[index - firstDynamicIndex] === true
      yield* isAuthority ? overwriteValue() : skipInBlock(yield* readInteger(yield* nextInBlock(), 7))
      if (addsEntry) {
        table.unshift(isAuthority)
        table.length = Math.min(table.length, maxTableEntries)
      }
    }
  }

  function* readName(): Scan<boolean> {
    const first = yield* nextInBlock()
    const name = first & 0x80 ? authorityName.huffman : authorityName.plain
    const length = yield* readInteger(first, 7)
    if (length !== name.length) {
      yield* skipInBlock(length)
      return false
    }
    let equal = true
    for (const expected of name) if ((yield* nextInBlock()) !== expected) equal = false
    return equal
  }

  function* overwriteValue(): Scan<void> {
    const first = yield* nextInBlock()
    patch(first & 0x7f) // no Huffman code
    const length = yield* readInteger(first, 7)
    for (let i = 0; i < length; i++) {
      yield* nextInBlock()
      patch(legalValue[i] ?? filler)
    }
  }

  /** An integer whose prefix is in the low bits of `first`, RFC 7541 section 5.1; nghttp2 refuses more than 32 bits. */
  function* readInteger(first: number, prefixBits: number): Scan<number> {
    const max = 2 ** prefixBits - 1
    let value = first & max
    if (value < max) return value
    for (let shift = 0; shift <= 28; shift += 7) {
      const byte = yield* nextInBlock()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    return yield* giveUp()
  }
}
