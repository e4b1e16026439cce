/** Claim: the message of an ended container names the cause, the advice and the last ten events, fits, and is written only where the kubelet has put a file. */
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
})
