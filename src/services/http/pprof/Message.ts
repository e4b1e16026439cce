/**
 * A protobuf message that is being written, as far as profiles need it. The codecs of proto/ know neither numbers nor messages inside messages, and every
 * start would pay for teaching them.
 */

const wireType = { varint: 0, delimited: 2 } as const

export class Message {
  readonly #bytes: Array<number> = []

  /** A whole number of 0 or more; 0 is the default of a field, and left out. */
  number(field: number, value: number): this {
    if (value !== 0) {
      this.#varint(field * 8 + wireType.varint)
      this.#varint(value)
    }
    return this
  }

  bool(field: number, value: boolean): this {
    return this.number(field, value ? 1 : 0)
  }

  /** Written even when it is empty, as an entry of a repeated field. */
  string(field: number, value: string): this {
    return this.#delimited(field, Buffer.from(value))
  }

  /** Of a repeated field, packed. */
  numbers(field: number, values: ReadonlyArray<number>): this {
    if (values.length === 0) return this
    const packed = new Message()
    for (const value of values) packed.#varint(value)
    return this.message(field, packed)
  }

  message(field: number, message: Message): this {
    return this.#delimited(field, message.#bytes)
  }

  encode(): Buffer {
    return Buffer.from(this.#bytes)
  }

  #delimited(field: number, content: ArrayLike<number> & Iterable<number>): this {
    this.#varint(field * 8 + wireType.delimited)
    this.#varint(content.length)
    for (const byte of content) this.#bytes.push(byte)
    return this
  }

  /** Division and rest are exact for every double, past 2^53 too. */
  #varint(value: number): void {
    let rest = value
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) this.#bytes.push((rest % 0x80) + 0x80)
    this.#bytes.push(rest)
  }
}
