/** Claim: `npm run replay` serves the page of the inspector on loopback with a record beside it, and says what is wrong with a file that is none. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

import { afterAll, assert, it } from "vitest"

import { encodeEntry, encodeHeader } from "../../src/services/inspector/record.ts"
import { Program } from "../fakes/peers/Program.ts"

const script = resolve(import.meta.dirname, "../../scripts/replay.ts")
const record = `${encodeHeader({ version: "v1", driver: "a.example.com", chart: "abc", time: 0 })}
${encodeEntry({ at: 0, event: "xstate.init", before: "connecting", after: "connecting", value: { connecting: "dialing" }, payload: {}, context: {} })}
`
const folder = mkdtempSync(join(tmpdir(), "replay-"))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (text: string) => {
  const path = join(folder, "record.ndjson")
  writeFileSync(path, text)
  return path
}

it("the page, and the record as it is", async () => {
  const program = new Program("replay", [process.execPath, script, file(record)])
  try {
    assert.equal(await program.stdout.next("what it is", () => true), "1 events of a.example.com")
    const url = await program.stdout.next("where it is", (line) => line.startsWith("http://127.0.0.1:"))

    const page = await fetch(new URL("/", url))
    assert.equal(page.url, url)
    assert.match(page.headers.get("content-security-policy") ?? "", /^default-src 'none'; /)
    assert.match(await page.text(), /^<!doctype html>/)
    assert.equal((await fetch(`${url}/events`)).status, 404)
    assert.equal(await (await fetch(`${url}/events.ndjson`)).text(), record)
  } finally {
    await program.kill()
  }
})

it("a file that is no record ends it with one line", async () => {
  const program = new Program("replay", [process.execPath, script, file("hello\n")])
  assert.equal((await program.exited).code, 1)
  assert.deepEqual(program.stderr.all, [`${join(folder, "record.ndjson")}: line 1 is no JSON object`])
})
