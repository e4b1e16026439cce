/** Texts that others have made, of any length and any characters. Pure. */

/** What breaks a line, or steers a terminal, is shown as JSON shows it. */
export const inOneLine = (text: string): string =>
  text.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** At most `length` UTF-16 units and "…", half a surrogate pair becomes U+FFFD. Holds on to no more of the text than that. */
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text.toWellFormed() : `${Buffer.from(text.slice(0, length)).toString()}…`

/** One line of at most `length` UTF-16 units, for people. */
export const shortLine = (text: string, length: number): string =>
  shortened(inOneLine(text.length <= length ? text : text.slice(0, length + 1)), length)
