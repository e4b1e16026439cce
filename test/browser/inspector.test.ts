/**
 * Claim: in a browser the page shows what happens as it happens, and as it was; it runs under its own policy, takes no text for markup, is used by keys alone,
 * and fits a telephone.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect } from "vitest"

import { Http } from "../e2e/Http.ts"
import { states } from "../e2e/states.ts"
import { it as inWorld } from "../e2e/World.ts"
import { Chromium, chromium } from "./Chromium.ts"

const file = chromium()
const leftOut = file === undefined ? " (left out: no chromium on PATH)" : ""
const hostile = `<img src=x onerror="document.title='taken'">`
const flag = "--enable-inspector"

const it = inWorld
  .extend("browser", async ({ onTestFailed }, { onCleanup }) => {
    const browser = await Chromium.start(file ?? "")
    onTestFailed(() => console.log(browser.complaints))
    onCleanup(() => browser.close())
    return browser
  })
  .skipIf(file === undefined)

const pageOf = (http: Http) => `http://${http.flag.replace("--http-endpoint=", "")}/debug/machine`
const stateIs = (name: string) => `document.getElementById("state").textContent === ${JSON.stringify(name)}`
const lit = (kind: "on" | "last") => `[...document.querySelectorAll("#picture .${kind}")].map(({ id }) => id)`

it(`lights states and transitions as they happen, and as they were${leftOut}`, async ({ world, browser }) => {
  const http = await Http.open()
  const registrar = await states.listening(world, http.flag, flag)
  await browser.open(pageOf(http))
  await browser.until(stateIs("listening"))

  await world.accepts(registrar)
  await browser.until(stateIs("registered"))
  expect(await browser.value(lit("on"))).toContain("registrar.attached.registration.inPlace.registered")
  expect(await browser.value(lit("last"))).toContain("inPlace--registrar.attached.registration.inPlace.registered")

  await world.refuses(registrar, hostile)
  await browser.until(stateIs("refused"))
  expect(await browser.value(`document.getElementById("events").textContent`)).toContain(hostile)
  expect(await browser.value(`document.querySelectorAll("#events img").length`)).toBe(0)

  await browser.value(`document.getElementById("slider").focus()`)
  await browser.press("Home")
  await browser.until(stateIs("connecting"))
  expect(await browser.value(lit("on"))).toContain("registrar.connecting.dialing")
  // What happens meanwhile does not pull the chart away from the moment that is looked at.
  await world.accepts(registrar)
  await browser.until(`document.getElementById("events").textContent.split("kubelet.accepted").length > 2`)
  expect(await browser.value(stateIs("connecting"))).toBe(true)
  await browser.value(`document.getElementById("latest").click()`)
  await browser.until(stateIs("registered"))

  await browser.value(`document.getElementById("filter").focus()`)
  await browser.type("Refused kubelet.accepted")
  await browser.until(`document.querySelectorAll("#events li:not([hidden])").length === 0`)
  await browser.value(`document.getElementById("filter").select()`)
  await browser.type("IMG kubelet.refused")
  await browser.until(`document.querySelectorAll("#events li:not([hidden])").length === 1`)
  expect(browser.complaints).toEqual([])
})

it(`opens a record from a file, and goes back to live${leftOut}`, async ({ world, browser }) => {
  const http = await Http.open()
  const registrar = await states.registered(world, http.flag, flag)
  const saved = join(world.root, "record.ndjson")
  writeFileSync(saved, await (await http.fetch("/debug/machine/events.ndjson")).text())
  await world.refuses(registrar, "no")
  await browser.open(pageOf(http))
  await browser.until(stateIs("refused"))

  await browser.choose("#file", saved)
  await browser.until(stateIs("registered"))
  await browser.value(`document.getElementById("live").click()`)
  await browser.until(stateIs("refused"))

  writeFileSync(saved, "hello")
  await browser.choose("#file", saved)
  await browser.until(`document.getElementById("link").textContent.includes("line 1 is no JSON object")`)
  expect(browser.complaints).toEqual([])
})

it(`keys reach all of it, and 375 pixels are enough, by day and by night${leftOut}`, async ({ world, browser }) => {
  const http = await Http.open()
  await states.registered(world, http.flag, flag)
  await browser.send("Emulation.setDeviceMetricsOverride", {
    width: 375,
    height: 700,
    deviceScaleFactor: 1,
    mobile: true
  })
  await browser.open(pageOf(http))
  await browser.until(stateIs("registered"))
  expect(await browser.value("document.documentElement.scrollWidth")).toBeLessThanOrEqual(375)

  const reached = new Set<string>()
  for (let n = 0; n < 12; n++) {
    await browser.press("Tab")
    reached.add(
      await browser.value("document.activeElement.id || document.activeElement.parentElement.parentElement.id")
    )
  }
  for (const id of ["file", "download", "slider", "previous", "next", "latest", "fit", "chart", "filter", "events"]) {
    expect(reached).toContain(id)
  }

  const paper = () => browser.value(`getComputedStyle(document.body).backgroundColor`)
  const scheme = (value: string) =>
    browser.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] })
  await scheme("light")
  expect(await paper()).toBe("rgb(255, 255, 255)")
  await scheme("dark")
  expect(await paper()).toBe("rgb(13, 17, 23)")
  expect(browser.complaints).toEqual([])
})
