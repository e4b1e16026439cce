/** The inspector's picture in the docs, by day and by night: taken anew with UPDATE_PICTURES=1, for no two browsers draw the same pixels. */
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

import { expect } from "vitest"

import { Http } from "../e2e/Http.ts"
import { states } from "../e2e/states.ts"
import { it } from "../e2e/World.ts"
import { Chromium, chromium } from "./Chromium.ts"

const file = chromium()
const leftOut = file === undefined ? " (left out: no chromium on PATH)" : ""
const docs = resolve(import.meta.dirname, "../../docs")
const size = { width: 1_280, height: 860 }
const mostBytes = 200_000

/** Where a PNG says how large it is: behind its signature and the head of its first chunk. */
const sizeOf = (png: Buffer) => ({ width: png.readUInt32BE(16), height: png.readUInt32BE(20) })

it.skipIf(file === undefined).for([
  ["light", "inspector.png"],
  ["dark", "inspector-dark.png"]
] as const)(`%s: docs/%s${leftOut}`, async ([scheme, name], { world, onTestFinished }) => {
  const http = await Http.open()
  const registrar = await states.listening(world, http.flag, "--enable-inspector")
  await world.refuses(registrar, 'nodes "node-1" not found')
  await world.accepts(registrar)
  const browser = await Chromium.start(file ?? "")
  onTestFinished(() => browser.close())
  await browser.send("Emulation.setDeviceMetricsOverride", { ...size, deviceScaleFactor: 1, mobile: false })
  await browser.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] })
  await browser.open(`http://${http.flag.replace("--http-endpoint=", "")}/debug/machine`)
  await browser.until(`document.getElementById("state").textContent === "registered"`)

  const { data } = await browser.send("Page.captureScreenshot", { format: "png" })
  const taken = Buffer.from(String(data), "base64")
  if (process.env.UPDATE_PICTURES !== undefined) writeFileSync(join(docs, name), taken)

  const kept = readFileSync(join(docs, name))
  expect(sizeOf(taken)).toEqual(size)
  expect(sizeOf(kept)).toEqual(size)
  expect(statSync(join(docs, name)).size).toBeLessThanOrEqual(mostBytes)
  expect(browser.complaints).toEqual([])
})
