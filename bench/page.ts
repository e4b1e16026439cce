/** docs/performance.md and the run that it shows, docs/performance/last.json. `node bench/page.ts` makes its tables anew from that run. */
import { readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"

import { withBlocks } from "../scripts/readme.ts"
import { isMeasured, type Results, type Row } from "./results.ts"
import { headLines, legend, reasonLines, tableOf } from "./table.ts"

export const pageFile = resolve(import.meta.dirname, "../docs/performance.md")
const lastFile = resolve(import.meta.dirname, "../docs/performance/last.json")

/** Results as they are kept: without the single runs. */
export const kept = (results: Results): Results => ({
  ...results,
  rows: Object.fromEntries(Object.entries(results.rows).map(([name, row]) => [name, withoutValues(row)]))
})

const withoutValues = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([candidate, entry]) => {
      if (!isMeasured(entry)) return [candidate, entry]
      const { summary, dropped } = entry
      return [candidate, { summary, dropped }]
    })
  )

export const lastResults = (): Results => JSON.parse(readFileSync(lastFile, "utf8")) as Results

/** The page with its blocks made anew. */
export const withResults = (page: string, results: Results): string =>
  withBlocks("docs/performance.md", page, {
    figures: () =>
      [
        ...headLines(results).map((line) => `- ${line}`),
        "",
        tableOf(results),
        "",
        ...reasonLines(results).map((line) => `${line}  `)
      ].join("\n"),
    legend
  })

export const record = (results: Results): void => {
  writeFileSync(lastFile, `${JSON.stringify(kept(results), null, 2)}\n`)
  writeFileSync(pageFile, withResults(readFileSync(pageFile, "utf8"), results))
}

if (import.meta.main) writeFileSync(pageFile, withResults(readFileSync(pageFile, "utf8"), lastResults()))
