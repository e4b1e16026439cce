/** Makes the page of the inspector: one HTML text, with style, script and chart in it and nothing from outside, and the policy that says so. */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join, resolve } from "node:path"

import { build } from "rolldown"

import { registrarMachine } from "../../src/machine/registrar.ts"
import { chartOf } from "./chart.ts"
import { pictureOf } from "./picture.ts"

const root = resolve(import.meta.dirname, "../..")
const folder = join(root, "src/services/inspector/page")

/** As in src/services/inspector/builtPage.ts. */
export interface Page {
  readonly html: string
  readonly policy: string
  readonly chart: string
}

const bundled = async (): Promise<string> => {
  const { output } = await build({
    input: join(folder, "main.ts"),
    cwd: root,
    platform: "browser",
    write: false,
    transform: { target: "es2022" },
    output: { format: "iife", minify: true }
  })
  return output[0].code.trim()
}

/** Indents and comments are for the reader of the source. */
const squeezed = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s*\n\s*/g, "\n")
    .trim()

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

export const makePage = async (): Promise<Page> => {
  const chart = chartOf(registrarMachine)
  const style = squeezed(await readFile(join(folder, "page.css"), "utf8"))
  const script = `const chart=${JSON.stringify(chart)};${await bundled()}`
  if (/<\/(script|style)|<!--/i.test(script + style)) throw new Error("the page would end within its script or style")
  const parts: Readonly<Record<string, string>> = {
    style,
    script,
    picture: pictureOf(await readFile(join(root, "docs/statechart.svg"), "utf8"))
  }
  const template = (await readFile(join(folder, "page.html"), "utf8"))
    .replace(/<!-- .*? -->/g, "")
    .replace(/\s*\n\s*/g, "\n")
  return {
    html: template.replace(/\s*(?:\/\*|<!--)(\w+)(?:\*\/|-->)\s*/g, (place, name: string) => parts[name] ?? place),
    policy: [
      "default-src 'none'",
      `style-src ${hashOf(style)}`,
      `script-src ${hashOf(script)}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'"
    ].join("; "),
    chart: chart.hash
  }
}
