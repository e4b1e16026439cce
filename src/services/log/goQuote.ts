/**
 * Go's double-quoted string notation, as klog and the Go flag package print values with it: printable characters of any
 * script stay, everything else becomes an escape, so that one value is always one line.
 */

const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
/** What Go calls printable: letters, marks, numbers, punctuation, symbols, and of the spaces only U+0020. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u
const SHORT = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"]
])

/**
 * Quotes text as Go's `strconv.Quote` does. Half of a surrogate pair, which Go cannot hold, becomes `\ufffd`;
 * bytes that were no UTF-8 have already become that character when Node read them.
 */
export function goQuote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  let quoted = ""
  for (const char of text) quoted += escape(char)
  return `"${quoted}"`
}

function escape(char: string): string {
  const short = SHORT.get(char)
  if (short !== undefined) return short
  if (PRINTABLE.test(char)) return char
  const code = char.codePointAt(0) ?? 0
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`
  if (code >= 0xd800 && code <= 0xdfff) return "\\ufffd"
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, "0")
}
