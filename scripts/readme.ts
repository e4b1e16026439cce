// The tables of README.md that come from the code: flags, metrics and differences. `node scripts/readme.ts` writes them, test/readme.test.ts compares.
import { readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"

import { differencesTable } from "../src/machine/differences.ts"
import { flagsTable } from "../src/services/flags/help.ts"
import { metricsTable } from "../src/services/metrics/definitions.ts"

export const readmeFile = join(resolve(import.meta.dirname, ".."), "README.md")

const blocks = { flags: flagsTable, differences: differencesTable, metrics: metricsTable }

/** A page with what lies between its markers made anew; throws when a block has lost its place. `page` names it. */
export const withBlocks = (page: string, text: string, blocks: Readonly<Record<string, () => string>>): string =>
  Object.entries(blocks).reduce((text, [name, made]) => {
    const block = new RegExp(`(<!-- ${name}: made by \`[^\`]+\`, do not edit -->\n)[\\s\\S]*?(<!-- /${name} -->)`)
    if (!block.test(text)) throw new Error(`${page} has lost the place of its table "${name}"`)
    return text.replace(block, (_, open: string, close: string) => `${open}\n${made().trimEnd()}\n\n${close}`)
  }, text)

/** The README with its tables made anew. */
export const withTables = (readme: string): string => withBlocks("README.md", readme, blocks)

if (import.meta.main) await writeFile(readmeFile, withTables(await readFile(readmeFile, "utf8")))
