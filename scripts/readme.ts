// What of README.md and docs/troubleshooting.md comes from the code: tables, and the sequence of a recorded registration. `node scripts/readme.ts` writes them, test/readme.test.ts compares.
import { readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"

import { adviceTable } from "../src/machine/advice.ts"
import { differencesTable } from "../src/machine/differences.ts"
import { flagsTable } from "../src/services/flags/help.ts"
import { metricsTable } from "../src/services/metrics/definitions.ts"
import { sequenceOfFile } from "./sequence.ts"

const root = resolve(import.meta.dirname, "..")
const sequence = () => `\`\`\`mermaid\n${sequenceOfFile(join(root, "docs/registration.ndjson"))}\n\`\`\``

type Blocks = Readonly<Record<string, () => string>>

/** By page, from the root of the repository: what lies between its markers. */
const pages: Readonly<Record<string, Blocks>> = {
  "README.md": { flags: flagsTable, differences: differencesTable, metrics: metricsTable, sequence },
  "docs/troubleshooting.md": { refusals: adviceTable }
}

/** A page with what lies between its markers made anew; throws when a block has lost its place. `page` names it. */
export const withBlocks = (page: string, text: string, blocks: Blocks): string =>
  Object.entries(blocks).reduce((text, [name, made]) => {
    const block = new RegExp(`(<!-- ${name}: made by \`[^\`]+\`, do not edit -->\n)[\\s\\S]*?(<!-- /${name} -->)`)
    if (!block.test(text)) throw new Error(`${page} has lost the place of its table "${name}"`)
    return text.replace(block, (_, open: string, close: string) => `${open}\n${made().trimEnd()}\n\n${close}`)
  }, text)

/** Every page that has such tables, as it is and as it should be. */
export const madePages = (): Promise<
  ReadonlyArray<{ readonly file: string; readonly is: string; readonly made: string }>
> =>
  Promise.all(
    Object.entries(pages).map(async ([page, blocks]) => {
      const file = join(root, page)
      const is = await readFile(file, "utf8")
      return { file, is, made: withBlocks(page, is, blocks) }
    })
  )

if (import.meta.main) for (const { file, made } of await madePages()) await writeFile(file, made)
