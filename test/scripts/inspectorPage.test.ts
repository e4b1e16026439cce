/**
 * Claim: the page is whole in itself, allows nothing but its own style and script, has a place in its picture for whatever may be lit, and is small.
 */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"

import { assert, describe, it } from "vitest"

import { chartOf } from "../../scripts/inspector/chart.ts"
import { makePage } from "../../scripts/inspector/page.ts"
import { pictureOf } from "../../scripts/inspector/picture.ts"
import { registrarMachine } from "../../src/machine/registrar.ts"
import { transitionId } from "../../src/services/inspector/chart.ts"

const largestBytes = 60 * 1024

const { html, policy, chart } = await makePage()
const between = (tag: string) => new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)?.[1] ?? ""
const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

describe("the page", () => {
  it("is allowed its own style and script by their hashes, its server, and nothing else", () => {
    assert.deepEqual(policy.split("; "), [
      "default-src 'none'",
      `style-src ${hash(between("style"))}`,
      `script-src ${hash(between("script"))}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'"
    ])
  })

  it("has nothing that such a policy would stop, and no address of anybody", () => {
    const markup = html.replace(between("script"), "").replace(between("style"), "")
    assert.notMatch(markup, /\s(on\w+|style|src)=/i)
    assert.notMatch(html.replace('xmlns="http://www.w3.org/2000/svg"', ""), /https?:|\/\/[a-z\d]+\.|@import|url\(/i)
    assert.notMatch(between("script"), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/)
    assert.notMatch(html, /\/\*\w+\*\/|<!--/)
  })

  it("knows the chart by its hash", () => {
    assert.equal(chart, chartOf(registrarMachine).hash)
    assert.include(between("script"), chart)
  })

  it("is the same each time", async () => assert.deepEqual(await makePage(), { html, policy, chart }))

  it("is small", () => assert.isAtMost(Buffer.byteLength(html), largestBytes))
})

describe("the picture", () => {
  const ids = [...html.matchAll(/<g id="([^"]+)"/g)].map(([, id]) => id)

  it("has each state and each transition once", () => {
    const { states, transitions } = chartOf(registrarMachine)
    const wanted = new Set([...states.map(({ id }) => id), ...transitions.map(transitionId)])
    assert.deepEqual(ids.filter((id) => !/--(above|below)$/.test(id ?? "")).sort(), [...wanted].sort())
    assert.equal(new Set(ids).size, ids.length)
  })

  it("says what each state is", () => {
    assert.include(html, "<title>The kubelet said yes.</title>")
    assert.equal(html.match(/<g [^>]*class="(cluster )?state/g)?.length, html.match(/<title>(?!Registrar<)/g)?.length)
  })

  it("tells no counts", () => assert.notMatch(html, /×\d/))

  it("is not made of anything else", async () => {
    const svg = await readFile(join(import.meta.dirname, "../../docs/statechart.svg"), "utf8")
    assert.throws(() => pictureOf(svg.replaceAll('class="', 'class="x')), /not as/)
  })
})
