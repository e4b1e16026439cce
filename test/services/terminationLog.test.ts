/** Claim: the message of an ended container names the cause, the advice and the last ten events, fits, and is written only where the kubelet has put a file. */
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import fc from "fast-check"

import type { Entry } from "../../src/services/Status.ts"
import { terminationMessage, writeTerminationLog } from "../../src/services/terminationLog.ts"
import { tempFolder } from "../fakes/tempFolder.ts"

const line = { message: "Error connecting to CSI driver" }
const entry = (n: number): Entry => ({ at: n * 1_000, event: `event.${n}`, before: "connecting", after: "failed" })

describe("the message", () => {
  it("names cause, advice and the last ten events, oldest first", () => {
    const history = Array.from({ length: 12 }, (_, n) => entry(n))
    const lines = terminationMessage(
      { line, values: { err: "no such file", advice: "start the driver" } },
      history
    ).split("\n")
    assert.deepStrictEqual(lines.slice(0, 5), [
      "Error connecting to CSI driver: no such file",
      "start the driver",
      "",
      "The last events:",
      "1970-01-01T00:00:02.000Z event.2: connecting → failed"
    ])
    assert.strictEqual(lines.length, 4 + 10 + 1)
  })

  it("of a failure before the first event is the cause alone", () => {
    assert.strictEqual(terminationMessage({ line, values: { err: "bad" } }), "Error connecting to CSI driver: bad\n")
  })

  it("fits in what the kubelet reads, whatever it is made of", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 6_000, size: "max" })
    fc.assert(
      fc.property(text, text, fc.array(text, { maxLength: 12 }), (err, advice, events) => {
        const history = events.map((event, n) => ({ ...entry(n), event }))
        const message = terminationMessage({ line, values: { err, advice } }, history)
        assert.isAtMost(Buffer.byteLength(message), 4_096)
        assert.isTrue(message.startsWith(line.message))
      }),
      { numRuns: 50 }
    )
  })
})

describe("a text of others", () => {
  it("keeps its lines, and steers no terminal", () => {
    const message = terminationMessage({ line, values: { err: 'a\n\tb\u001b[2J\r\u0000\u009b<script>"\\' } })
    assert.strictEqual(message, 'Error connecting to CSI driver: a\n\tb\\u001b[2J\\u000d\\u0000\\u009b<script>"\\\n')
  })

  it("has no control character, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (err) => {
        assert.notMatch(
          terminationMessage({ line, values: { err, advice: err } }),
          /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]/
        )
      })
    )
  })

  it("may have megabytes", () => {
    assert.isAtMost(Buffer.byteLength(terminationMessage({ line, values: { err: "\u001b".repeat(2 ** 20) } })), 4_096)
  })
})

describe("the file", () => {
  it.effect("has the message and nothing of before", () =>
    Effect.gen(function* () {
      const file = join(yield* tempFolder, "termination-log")
      fs.writeFileSync(file, "something longer than the message")
      writeTerminationLog("short\n", file)
      assert.strictEqual(fs.readFileSync(file, "utf8"), "short\n")
    })
  )

  it.effect("is not made where there is none", () =>
    Effect.gen(function* () {
      const file = join(yield* tempFolder, "termination-log")
      writeTerminationLog("short\n", file)
      assert.isFalse(fs.existsSync(file))
    })
  )

  it.effect("is not waited for where it is a FIFO, a folder or below a file", () =>
    Effect.gen(function* () {
      const folder = yield* tempFolder
      const fifo = join(folder, "fifo")
      execFileSync("mkfifo", [fifo])
      const file = join(folder, "file")
      fs.writeFileSync(file, "kept")

      for (const path of [fifo, folder, join(file, "below")]) writeTerminationLog("short\n", path)

      assert.isTrue(fs.statSync(fifo).isFIFO())
      assert.deepStrictEqual(fs.readdirSync(folder).sort(), ["fifo", "file"])
      assert.strictEqual(fs.readFileSync(file, "utf8"), "kept")
    })
  )

  it.effect("is not waited for where it is a FIFO that is full", () =>
    Effect.gen(function* () {
      const fifo = join(yield* tempFolder, "fifo")
      execFileSync("mkfifo", [fifo])
      const reader = fs.openSync(fifo, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
      for (let n = 0; n < 20; n++) writeTerminationLog("x".repeat(4_096), fifo)
      fs.closeSync(reader)
    })
  )

  it("stays as it is where it may not be written, as nobody may write this one", () => {
    const file = "/proc/version"
    const before = fs.readFileSync(file, "utf8")
    writeTerminationLog("short\n", file)
    assert.strictEqual(fs.readFileSync(file, "utf8"), before)
  })
})
