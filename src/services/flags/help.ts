/** The table of flags as people read it: `--help` in the layout of Go's flag package, and the README's table. */

import { type Flag, flags, klogFlags } from "./table.ts"

/** The text of `--help`, and of what follows a parse error: two lines for each flag, sorted by name. */
export function usage(argv0: string): string {
  const rows = sorted().map((flag) => `  -${flag.name}${wordOf(flag)}\n    \t${flag.about}${defaultOf(flag)}\n`)
  return `Usage of ${argv0}:\n${rows.join("")}Accepted without effect, for pods written for releases before v2.11: ${klogNames("-")}\n`
}

/** The README's table, in Markdown. */
export function flagsTable(): string {
  const rows = sorted().map((flag) => {
    const word = flag.type.name
    return `| \`--${flag.name}\` | ${word} | ${initialOf(flag)} | ${flag.about.replaceAll("|", "\\|")} |\n`
  })
  return `| flag | type | default | meaning |\n|---|---|---|---|\n${rows.join("")}\nAccepted without effect, for pods written for releases before v2.11: ${klogNames("--", "`")}.\n`
}

function sorted(): Array<Flag<unknown>> {
  return Object.values<Flag<unknown>>(flags).sort((a, b) => (a.name < b.name ? -1 : 1))
}

function wordOf(flag: Flag<unknown>): string {
  const word = flag.word ?? flag.type.word
  return word === "" ? "" : ` ${word}`
}

/** A default that is the type's zero goes without saying, as in Go. */
function defaultOf(flag: Flag<unknown>): string {
  const initial = flag.type.show(flag.initial)
  return initial === flag.type.zero ? "" : ` (default ${initial})`
}

function initialOf(flag: Flag<unknown>): string {
  const initial = flag.type.show(flag.initial).replaceAll('"', "")
  return initial === "" ? "" : `\`${initial}\``
}

function klogNames(dashes: string, quote = ""): string {
  return klogFlags.map((flag) => `${quote}${dashes}${flag.name}${quote}`).join(", ")
}
