/**
 * Claim: whoever is asked answers one line, in however many pieces; whatever else they do is a reason, in time. Real sockets, since the handles below
 * `node:net` are nobody's promise but the pinned node's.
 */
import * as net from "node:net"
import * as path from "node:path"

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import fc from "fast-check"

import { askLine, type Question } from "../../../src/services/probe/askLine.ts"
import { tempFolder } from "../../fakes/tempFolder.ts"

const generous = { withinMs: 10_000, longest: 10_000 }

/** Its path; `answer` is done to each connection. */
const listening = (answer: (socket: net.Socket) => void) =>
  Effect.gen(function* () {
    const socketPath = path.join(yield* tempFolder, "s")
    const open = new Set<net.Socket>()
    const server = net.createServer((socket) => {
      open.add(socket)
      socket.on("error", () => {})
      answer(socket)
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(socketPath, resolve))),
      () =>
        Effect.sync(() => {
          for (const socket of open) socket.destroy()
          server.close()
        })
    )
    return socketPath
  })

const refusal = (question: Question) =>
  Effect.promise(() =>
    askLine(question).then(
      (line): never => assert.fail(`answered: ${line}`),
      (error: NodeJS.ErrnoException) => error
    )
  )

const line = fc.string({ unit: "binary", maxLength: 40 }).filter((text) => !text.includes("\n"))

it.live("any line, cut anywhere, arrives as it was sent", () =>
  Effect.gen(function* () {
    let pieces: ReadonlyArray<Buffer> = []
    const socketPath = yield* listening((socket) => {
      const [first, ...rest] = pieces
      const send = (piece: Buffer | undefined) => {
        if (piece !== undefined) socket.write(piece, () => setImmediate(() => send(rest.shift())))
      }
      send(first)
    })
    yield* Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(line, fc.array(fc.nat(200), { maxLength: 4 }), async (sent, cuts) => {
          const bytes = Buffer.from(`${sent}\n`)
          const at = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length]
          pieces = at
            .slice(1)
            .map((end, n) => bytes.subarray(at[n], end))
            .filter((piece) => piece.length > 0)
          assert.strictEqual(await askLine({ path: socketPath, ...generous }), bytes.toString("utf8").slice(0, -1))
        }),
        { numRuns: 100 }
      )
    )
  })
)

describe("no line", () => {
  it.live("nobody listens: the system's code", () =>
    Effect.gen(function* () {
      const folder = yield* tempFolder
      const error = yield* refusal({ path: path.join(folder, "none"), ...generous })
      assert.strictEqual(error.code, "ENOENT")
      assert.strictEqual(error.message, `connect ENOENT ${folder}/none`)
    })
  )

  it.live("they hang up", () =>
    Effect.gen(function* () {
      const socketPath = yield* listening((socket) => socket.end("half a li"))
      const error = yield* refusal({ path: socketPath, ...generous })
      assert.strictEqual(error.message, "hung up without an answer")
    })
  )

  it.live("they say nothing", () =>
    Effect.gen(function* () {
      const socketPath = yield* listening(() => {})
      const error = yield* refusal({ path: socketPath, ...generous, withinMs: 30 })
      assert.strictEqual(error.message, "no answer")
    })
  )

  it.live("they do not stop", () =>
    Effect.gen(function* () {
      const socketPath = yield* listening((socket) => {
        const more = (): boolean => socket.write("x".repeat(1_000), () => socket.destroyed || setImmediate(more))
        more()
      })
      const error = yield* refusal({ path: socketPath, ...generous })
      assert.strictEqual(error.message, "an answer without an end")
    })
  )
})
