/**
 * Claim: with --enable-inspector whoever reaches the HTTP endpoint sees the chart live: the page, the last events and those to come, and the same as a file.
 * Without it, there is no such path. No client changes anything, or delays the end.
 */
import { createHash } from "node:crypto"
import { once } from "node:events"

import { expect } from "vitest"

import { decodeRecord, isFault, type Recording } from "../../src/services/inspector/record.ts"
import { answers, asks, exchange, staying } from "../services/http/rawHttp.ts"
import { EventStream } from "./EventStream.ts"
import { Http } from "./Http.ts"
import { said } from "./Registrar.ts"
import { states } from "./states.ts"
import { driverName, it } from "./World.ts"

const flag = "--enable-inspector"
const paths = ["/debug/machine", "/debug/machine/events", "/debug/machine/events.ndjson"]
/** Far below what `stopping` may take. */
const soonMs = 1_000
const hostile = `<img src=x onerror="alert(1)"> & "quoted"\nüñï`

const portOf = ({ flag }: Http) => Number(flag.slice(flag.lastIndexOf(":") + 1))

const recordOf = (text: string): Recording => {
  const read = decodeRecord(text)
  if (isFault(read)) throw new Error(read.fault)
  return read
}

it("without the flag there is nothing", async ({ world }) => {
  const http = await Http.open()
  await states.listening(world, http.flag)

  for (const path of paths) {
    expect(await exchange(portOf(http), asks("GET", path))).toBe(answers.notFound())
  }
})

it("the page allows its own style and script by their hashes, and nothing from outside", async ({ world }) => {
  const http = await Http.open()
  await states.connecting(world, http.flag, flag)

  const response = await http.fetch("/debug/machine")
  const html = await response.text()

  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8")
  const policy = response.headers.get("content-security-policy") ?? ""
  expect(policy).toMatch(/^default-src 'none'; /)
  expect(policy).not.toContain("unsafe")
  for (const tag of ["style", "script"]) {
    const inside = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)?.[1] ?? ""
    expect(inside).not.toBe("")
    expect(policy).toContain(`${tag}-src 'sha256-${createHash("sha256").update(inside).digest("base64")}'`)
  }
  expect(html).toContain('<g id="registrar.connecting"')
})

it("what was, then what comes, in order; the file has the same", async ({ world }) => {
  const http = await Http.open()
  const registrar = await states.listening(world, http.flag, flag)

  const early = await EventStream.open(http)
  await world.accepts(registrar)
  await world.refuses(registrar, hostile)
  const late = await EventStream.open(http)
  await late.lines.next("the refusal", (line) => line.includes("kubelet.refused"))
  await early.lines.next("the refusal", (line) => line.includes("kubelet.refused"))
  const file = await (await http.fetch("/debug/machine/events.ndjson")).text()

  const record = recordOf(file)
  const events = record.entries.map(({ event }) => event)
  const afterStart = events.slice(events.indexOf("driver.identified"))
  expect(events[0]).toBe("xstate.init")
  expect(afterStart.slice(0, 6)).toEqual([
    "driver.identified",
    "socket.placed",
    "kubelet.asked",
    "kubelet.accepted",
    "kubelet.asked",
    "kubelet.refused"
  ])
  const refused = record.entries.find(({ event }) => event === "kubelet.refused")
  expect(refused).toMatchObject({
    before: "registered",
    after: "refused",
    value: { attached: { driver: "connected", registration: { inPlace: "refused" } } },
    payload: { text: hostile },
    context: { driverName, refusals: 1, refusal: { text: hostile } }
  })
  expect(record.header).toMatchObject({ driver: driverName, version: expect.stringMatching(/^v\d/) })
  const lines = file.trimEnd().split("\n").slice(1)
  for (const { lines: seen } of [early, late]) {
    const common = Math.min(seen.all.length - 1, lines.length)
    expect(seen.all.slice(1, common + 1)).toEqual(lines.slice(0, common))
    expect(JSON.parse(seen.all[0] ?? "")).toMatchObject({ record: 1, chart: record.header.chart })
  }
  early.close()
  late.close()
})

it("other methods get what GET does, HEAD without a body; but a stream ends after what was", async ({ world }) => {
  const http = await Http.open()
  await states.listening(world, http.flag, flag)
  const ask = (method: string, path: string) => exchange(portOf(http), asks(method, path))

  const page = await ask("GET", "/debug/machine")
  for (const method of ["POST", "DELETE", "FOO", "CONNECT"]) expect(await ask(method, "/debug/machine")).toBe(page)
  expect(await ask("HEAD", "/debug/machine")).toBe(answers.withoutBody(page))
  expect(await ask("GET", "//debug/./machine")).toBe(answers.redirect("/debug/machine"))
  expect(await ask("GET", "/%64ebug/machine")).toBe(page)
  expect(await ask("GET", "/debug/machine/")).toBe(answers.notFound())

  const stream = await ask("POST", "/debug/machine/events")
  expect(stream).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Type: text\/event-stream\r\n/)
  expect(stream).toContain('data: {"record":1,')
  expect(stream).toMatch(/"socket\.placed".*\n[\s\S]*\r\n0\r\n\r\n$/)
  expect(await ask("HEAD", "/debug/machine/events")).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n$/)
  // A client that has closed its side wants no more than what was.
  expect(await ask("GET", "/debug/machine/events")).toContain('"socket.placed"')
})

it("a client that does not read delays nobody", async ({ world }) => {
  const http = await Http.open()
  const registrar = await states.listening(world, http.flag, flag)
  const slow = await staying(portOf(http), asks("GET", "/debug/machine/events"))
  await once(slow, "data")
  slow.pause()
  const reader = await EventStream.open(http)

  await world.accepts(registrar)

  await reader.lines.next("the acceptance", (line) => line.includes("kubelet.accepted"))
  expect(await http.get("/readyz")).toBe("200 ok")
  const { code, tookMs } = await registrar.end()
  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(soonMs)
  slow.destroy()
})

it("SIGTERM ends the streams with the chart's last event, and at once", async ({ world }) => {
  const http = await Http.open()
  const registrar = await states.registered(world, http.flag, flag)
  const streams = [await EventStream.open(http), await EventStream.open(http)]

  const { code, tookMs } = await registrar.end()

  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(soonMs)
  expect(registrar.messages).toContain(said.stopping)
  for (const { ended, lines } of streams) {
    expect(await ended).toBe(true)
    expect(JSON.parse(lines.all.at(-1) ?? "")).toMatchObject({ after: "stopped", value: "stopped" })
  }
  expect(world.entries()).toEqual([])
})
