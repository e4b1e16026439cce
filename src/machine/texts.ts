/** Texts that others have made, of any length and any characters. Pure. */

/** Lines are joined by a blank; what steers a terminal is shown as JSON shows it. */
export const inOneLine = (text: string): string =>
  (/[\r\n]/.test(text) ? joined(text) : text).replace(
    /[\0-\x1f\x7f-\x9f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

const joined = (text: string) =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ")

/** At most `length` UTF-16 units and "…", half a surrogate pair becomes U+FFFD. Holds on to no more of the text than that. */
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text.toWellFormed() : `${Buffer.from(text.slice(0, length)).toString()}…`

/** One line of at most `length` UTF-16 units, for people; "…" follows where there is more. */
export const shortLine = (text: string, length: number): string => {
  const line = inOneLine(text.slice(0, length))
  return text.length > length ? `${shortened(line, length).replace(/…$/, "")}…` : shortened(line, length)
}
