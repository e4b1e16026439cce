// The tables of README.md that come from the code: flags and differences. `node scripts/readme.ts` writes them, test/readme.test.ts compares.
import { readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"

import { differencesTable } from "../src/machine/differences.ts"
import { flagsTable } from "../src/services/flags/help.ts"

export const readmeFile = join(resolve(import.meta.dirname, ".."), "README.md")

const blocks = { flags: flagsTable, differences: differencesTable }

/** The README with its tables made anew; throws when one has lost its place. */
export const withTables = (readme: string): string =>
  Object.entries(blocks).reduce((text, [name, table]) => {
    const block = new RegExp(`(<!-- ${name}: made by \`npm run gen\`, do not edit -->\n)[\\s\\S]*?(<!-- /${name} -->)`)
    if (!block.test(text)) throw new Error(`README.md has lost the place of its table "${name}"`)
    return text.replace(block, (_, open: string, close: string) => `${open}\n${table().trimEnd()}\n\n${close}`)
  }, readme)

if (import.meta.main) await writeFile(readmeFile, withTables(await readFile(readmeFile, "utf8")))
