/**
 * The committed pictures of the chart: docs/statechart.svg, and a Mermaid twin in the README. A run compares them with its own drawings, and
 * writes them when UPDATE_PICTURES is set (`npm run gen`).
 */
import * as fs from "node:fs/promises"
import * as path from "node:path"

import { assert } from "@effect/vitest"
import type { AnyStateMachine } from "xstate"

import { drawMermaid, drawSvg, type Hits } from "./drawings.ts"

const root = path.resolve(import.meta.dirname, "../..")
const svgFile = path.join(root, "docs/statechart.svg")
const readmeFile = path.join(root, "README.md")
const mermaidBlock = /(<!-- statechart: drawn by `npm run gen`, do not edit -->\n)[\s\S]*?(<!-- \/statechart -->)/

export const checkPictures = async (machine: AnyStateMachine, hits: Hits): Promise<void> => {
  const svg = await drawSvg(machine, hits)
  const mermaid = drawMermaid(machine, hits)
  const readme = await fs.readFile(readmeFile, "utf8")
  const withMermaid = readme.replace(mermaidBlock, `$1\n\`\`\`mermaid\n${mermaid}\`\`\`\n$2`)
  if (process.env.UPDATE_PICTURES !== undefined) {
    await fs.writeFile(svgFile, svg)
    await fs.writeFile(readmeFile, withMermaid)
    return
  }
  const advice = "differs from the chart or from what the walks took; run `npm run gen` and look at the picture"
  assert.match(readme, mermaidBlock, "README.md has lost the place of its statechart")
  assert.isTrue((await fs.readFile(svgFile, "utf8")) === svg, `docs/statechart.svg ${advice}`)
  assert.isTrue(readme === withMermaid, `the statechart in README.md ${advice}`)
}
