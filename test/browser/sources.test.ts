/** Claim: the page knows whether it has come from a registrar or from a replay: one that has no room for another client is asked again, a replay shows its record. */
import { writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

import { expect, onTestFinished } from "vitest"

import { EventStream } from "../e2e/EventStream.ts"
import { Http } from "../e2e/Http.ts"
import { states } from "../e2e/states.ts"
import { it as inWorld } from "../e2e/World.ts"
import { Program } from "../fakes/peers/Program.ts"
import { Chromium, chromium } from "./Chromium.ts"

const file = chromium()
const leftOut = file === undefined ? " (left out: no chromium on PATH)" : ""
const it = inWorld
  .extend("browser", async ({ onTestFailed }, { onCleanup }) => {
    const browser = await Chromium.start(file ?? "")
    onTestFailed(() => console.log(browser.complaints))
    onCleanup(() => browser.close())
    return browser
  })
  .skipIf(file === undefined)

const script = resolve(import.meta.dirname, "../../scripts/replay.ts")
const linkSays = (text: string) => `document.getElementById("link").textContent.includes(${JSON.stringify(text)})`
const stateIs = (name: string) => `document.getElementById("state").textContent === ${JSON.stringify(name)}`

it(`a registrar with no room for one more client${leftOut}`, async ({ world, browser }) => {
  const http = await Http.open()
  await states.registered(world, http.flag, "--enable-inspector")
  const streams = await Promise.all(Array.from({ length: 8 }, () => EventStream.open(http)))

  await browser.open(`http://${http.flag.replace("--http-endpoint=", "")}/debug/machine`)
  await browser.until(linkSays("trying again"))
  expect(await browser.value(stateIs("no event yet"))).toBe(true)

  for (const stream of streams) stream.close()
  await browser.until(stateIs("registered"))
  await browser.until(linkSays("live"))
})

it(`a replay${leftOut}`, async ({ world, browser }) => {
  const http = await Http.open()
  await states.registered(world, http.flag, "--enable-inspector")
  const record = join(world.root, "record.ndjson")
  writeFileSync(record, await (await http.fetch("/debug/machine/events.ndjson")).text())
  const program = new Program("replay", [process.execPath, script, record])
  onTestFinished(async () => {
    await program.kill()
  })

  await browser.open(await program.stdout.next("where it is", (line) => line.startsWith("http://")))
  await browser.until(linkSays("replay"))
  await browser.until(stateIs("registered"))
})
