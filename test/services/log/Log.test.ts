/** Claim: the right lines go to the right descriptor at the right time. World: two real files, a clock that stands still. */

import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"

import * as lines from "../../../src/services/log/catalogue.ts"
import { type LogSettings, makeLog } from "../../../src/services/log/Log.ts"

const OFF = { splitStream: false, infoBufferBytes: 0 }
const SETTINGS: LogSettings = { format: "text", v: 0, vmodule: [], flushFrequencyMs: 5_000, text: OFF, json: OFF }

let dir = ""
let fds: Array<number> = []

beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), "log-"))
  fds = ["err", "out"].map((name) => fs.openSync(path.join(dir, name), "a"))
})
afterEach(() => {
  vi.useRealTimers()
  for (const fd of fds) fs.closeSync(fd)
  fs.rmSync(dir, { recursive: true })
})

const read = (name: "err" | "out") => fs.readFileSync(path.join(dir, name), "utf8")
const messages = (name: "err" | "out") => [...read(name).matchAll(/\] "(.*?)"/g)].map((match) => match[1])
function open(settings: Partial<LogSettings>) {
  const [fd = -1, infoFd = -1] = fds
  return makeLog({ ...SETTINGS, ...settings }, { fd, infoFd, now: () => 0, pid: 7 })
}

describe("what is shown", () => {
  it("is every error, and info up to --v, all on stderr", () => {
    const log = open({ v: 1 })
    for (const line of [lines.openingConnection, lines.driverName, lines.healthCheckFailed, lines.running])
      log.write(line)
    assert.deepEqual(messages("err"), [
      "Attempting to open a gRPC connection",
      "Health check failed",
      "Running node-driver-registrar"
    ])
    assert.equal(read("out"), "")
    assert.isFalse(log.enabled(lines.driverName))
    assert.isTrue(log.enabled(lines.healthCheckFailed))
  })

  it("is more for the files of --vmodule, never less", () => {
    const log = open({
      v: 1,
      vmodule: [
        { pattern: "connection", v: 5 },
        { pattern: "main", v: 1 }
      ]
    })
    assert.isTrue(log.enabled(lines.connecting))
    assert.isFalse(log.enabled(lines.driverName))
    assert.isTrue(open({ v: 4, vmodule: [{ pattern: "main", v: 1 }] }).enabled(lines.getInfo))
  })

  it("does not heed --vmodule in JSON", () =>
    assert.isFalse(open({ format: "json", vmodule: [{ pattern: "*", v: 9 }] }).enabled(lines.connecting)))

  it("is JSON when asked for", () => {
    open({ format: "json" }).write(lines.version, { version: "v1" })
    assert.equal(
      read("err"),
      '{"ts":0,"caller":"csi-node-driver-registrar/main.go:145","msg":"Version","v":0,"version":"v1"}\n'
    )
  })
})

describe.each(["text", "json"])("split streams, %s", (format) => {
  const split = (infoBufferBytes: number) => open({ format, [format]: { splitStream: true, infoBufferBytes } })

  it("sends info to stdout and errors to stderr, at once without a buffer", () => {
    const log = split(0)
    log.write(lines.running)
    log.write(lines.healthCheckFailed)
    assert.include(read("out"), lines.running.message)
    assert.include(read("err"), lines.healthCheckFailed.message)
    assert.notInclude(read("err"), lines.running.message)
  })

  it("holds info back until flush", () => {
    const log = split(4_096)
    log.write(lines.running)
    assert.equal(read("out"), "")
    log.flush()
    log.flush()
    assert.equal(read("out").split("\n").length, 2)
  })

  it("writes what waits before an error line", () => {
    const log = split(4_096)
    log.write(lines.running)
    log.write(lines.healthCheckFailed)
    assert.include(read("out"), lines.running.message)
  })

  it("writes what waits when the flush time is over, and keeps no process alive for it", () => {
    vi.useFakeTimers()
    const log = split(4_096)
    log.write(lines.running)
    vi.advanceTimersByTime(4_999)
    assert.equal(read("out"), "")
    vi.advanceTimersByTime(1)
    assert.include(read("out"), lines.running.message)
    assert.equal(vi.getTimerCount(), 0)
  })

  it("writes whole lines when the next would not fit, and a line that never fits at once", () => {
    const log = split(300)
    log.write(lines.notify, { status: "a".repeat(100) })
    log.write(lines.notify, { status: "b".repeat(100) })
    assert.match(read("out"), /a{100}"\}?\n$/)
    log.write(lines.notify, { status: "c".repeat(400) })
    assert.match(read("out"), /a{100}"\}?\n.*b{100}"\}?\n.*c{400}"\}?\n$/)
    log.flush()
  })
})
