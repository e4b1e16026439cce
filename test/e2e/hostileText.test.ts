/**
 * Claim: whatever text a driver or a kubelet has sent, each line of the log, the metrics, the readiness, the record and its stream can be read as ever,
 * nothing of it grows with the text's length, and probes are answered.
 */
import { spawnSync } from "node:child_process"

import { status } from "@grpc/grpc-js"
import { describe, expect } from "vitest"

import { decodeRecord, isFault } from "../../src/services/inspector/record.ts"
import { parseExposition } from "../services/metrics/parseExposition.ts"
import { EventStream } from "./EventStream.ts"
import { Http } from "./Http.ts"
import { said } from "./Registrar.ts"
import { it, underTest, type World } from "./World.ts"

const observed = ["--enable-inspector", "--enable-pprof", "--logging-format=json", "--registration-attempts=0"]
const steers = /[\0-\x1f\x7f-\x9f\u2028\u2029]/
/** Of a page that tells of one refusal: a fraction of the longest text here. */
const mostCharacters = 64 * 1024

const texts: Record<string, string> = {
  "line breaks": "a\nb\r\ndata: {}\n\nevent: x\n",
  "control characters": "\u0000\u0007\u001b[2J\u007f\u009b",
  markup: `</script><script>alert(1)</script><img src=x onerror='1'>"`,
  "quotes and backslashes": `"'\\"\\\\n{}\\u0000`,
  "a megabyte": "x".repeat(2 ** 20),
  "a megabyte of control characters": "\u001b".repeat(2 ** 20)
}

/** A registrar is found by it, and those of other worlds are not ours. */
const pathFlag = ({ root }: World) => `--kubelet-registration-path=${root}/csi.sock`

const probe = (world: World, wanted: string) => {
  const [program = "", ...before] = underTest()
  const flags = [
    "--mode=kubelet-registration-probe",
    `--probe=${wanted}`,
    pathFlag(world),
    `--plugin-registration-path=${world.registry}`
  ]
  return spawnSync(program, [...before, ...flags], { encoding: "utf8" })
}

/** All pages of a registrar, as their readers read them. */
const pagesAreWhole = async (http: Http) => {
  const [plain, data, metrics, record] = await Promise.all(
    ["/readyz", "/readyz?verbose", "/metrics", "/debug/machine/events.ndjson"].map(async (path) =>
      (await http.fetch(path)).text()
    )
  )
  expect(plain).not.toMatch(steers)
  expect(JSON.parse(data ?? "")).toMatchObject({ ready: false, reason: plain })
  parseExposition(metrics ?? "")
  expect(isFault(decodeRecord(record ?? ""))).toBe(false)
  for (const page of [plain, metrics, record]) expect(page?.length).toBeLessThan(mostCharacters)
  expect(await http.get("/livez")).toBe("200 ok")
}

const linesAreWhole = (lines: ReadonlyArray<string>) => {
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String) })
}

describe.each(Object.entries(texts))("%s", (_, text) => {
  it("in the kubelet's refusal", async ({ world }) => {
    await world.driver()
    const http = await Http.open()
    const registrar = await world.announced(http.flag, pathFlag(world), ...observed)
    const stream = await EventStream.open(http)

    await world.refuses(registrar, text)

    const told = await stream.lines.next("the refusal", (line) => line.includes("kubelet.refused"))
    expect(JSON.parse(told)).toMatchObject({ event: "kubelet.refused" })
    await pagesAreWhole(http)
    expect((await http.readiness()).lastVerdict?.text.slice(0, 1_000)).toBe(text.slice(0, 1_000))
    expect(probe(world, "alive").status).toBe(0)
    expect(probe(world, "registered").status).toBe(1)
    expect(probe(world, "registered").stderr).not.toContain("does not answer")
    stream.close()
    linesAreWhole(registrar.lines)
  })

  it("in the driver's error", async ({ world }) => {
    const driver = await world.driver()
    driver.refuses(status.INTERNAL, text)
    const http = await Http.open()
    const registrar = world.registrar(http.flag, ...observed)

    await registrar.says(said.waiting)

    await pagesAreWhole(http)
    linesAreWhole(registrar.lines)
    expect((await registrar.end()).code).toBe(0)
  })

  it("in the driver's name", async ({ world }) => {
    const driver = await world.driver()
    driver.tells(text)
    const registrar = world.registrar(...observed)

    expect(await registrar.program.exited).toMatchObject({ code: 1 })

    linesAreWhole(registrar.lines)
    expect(JSON.parse(registrar.lastLine).err.length).toBeLessThan(2_000)
    expect(world.entries()).toEqual([])
  })
})
