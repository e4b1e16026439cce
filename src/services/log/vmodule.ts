/** `--vmodule`: more verbosity for single source files, chosen by the base name in a line's caller. */

/** One `pattern=N` of the flag. */
export interface VmoduleItem {
  readonly pattern: string
  readonly v: number
}

/**
 * The verbosity that the first matching item gives to a caller; -1 without one. Items with 0 are no items to klog,
 * they do not hide a later match.
 */
export function vmoduleLevel(items: ReadonlyArray<VmoduleItem>): (caller: string) => number {
  const rules = items.filter((item) => item.v > 0).map(({ pattern, v }) => ({ glob: globOf(pattern), v }))
  return (caller) => {
    const name = caller.slice(caller.lastIndexOf("/") + 1).replace(/(\.go|\.ts)?:\d+$/, "")
    return rules.find((rule) => rule.glob?.test(name))?.v ?? -1
  }
}

/**
 * Go's `filepath.Match` as a regular expression: `*`, `?`, `[a-z]`, `[^a]`, and `\` before a character that stands for itself.
 * A malformed pattern gives undefined: it matches nothing and is no error, since klog looks at it too late to complain.
 */
export function globOf(pattern: string): RegExp | undefined {
  let source = ""
  let rest = pattern
  while (rest !== "") {
    const part = /^(?:\*|\?|\[(?:\^|(?!\^))(?:(?:\\.|[^\\\]-])(?:-(?:\\.|[^\\\]-]))?)+\]|\\.|[^\\[])/su.exec(rest)?.[0]
    if (part === undefined) return undefined
    rest = rest.slice(part.length)
    if (part === "*") source += "[^/]*"
    else if (part === "?") source += "[^/]"
    else if (part.startsWith("[")) source += classOf(part)
    else source += literal(part.replace(/^\\/, ""))
  }
  return new RegExp(`^${source}$`, "su")
}

function classOf(part: string): string {
  const negated = part.startsWith("[^")
  const ranges = part.slice(negated ? 2 : 1, -1).matchAll(/(\\.|[^\\])(?:-(\\.|[^\\]))?/gsu)
  const kept: Array<string> = []
  for (const [, low = "", high = low] of ranges) {
    const [from, to] = [low.replace(/^\\(?=.)/s, ""), high.replace(/^\\(?=.)/s, "")]
    // Go takes a range that runs backwards and matches nothing with it.
    if ((from.codePointAt(0) ?? 0) <= (to.codePointAt(0) ?? 0)) kept.push(`${literal(from)}-${literal(to)}`)
  }
  return `[${negated ? "^" : ""}${kept.join("")}]`
}

function literal(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}
