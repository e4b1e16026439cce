/**
 * Claim: no state of a descriptor stops the process, throws, or lets one line run into the next.
 * World: a real program (fixtures/logLines.ts) whose stderr is broken in each way, and a full pipe.
 */

import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"

import { assert, describe, it } from "vitest"

import { makeOutput } from "../../../src/services/log/Output.ts"

const FIXTURE = fileURLToPath(new URL("../../fixtures/logLines.ts", import.meta.url))

/** Starts the program, breaks its stderr, lets it log, and answers what it says of itself. */
async function report(mode: string, stderr: "pipe" | number): Promise<unknown> {
  const child = spawn(process.execPath, [FIXTURE, mode], { stdio: ["pipe", "pipe", stderr] })
  if (child.stderr !== null) {
    const gone = once(child.stderr, "close")
    child.stderr.destroy()
    await gone
  }
  const exited = once(child, "close")
  let said = ""
  child.stdout?.on("data", (chunk: Buffer) => {
    said += chunk.toString()
  })
  child.stdin?.end("go\n")
  assert.deepEqual(await exited, [0, null])
  return JSON.parse(said)
}

describe("a program that logs three lines", () => {
  it("lives on when nobody holds the other end of stderr", async () => {
    assert.deepEqual(await report("keep", "pipe"), { dropped: 3 })
  })

  it("lives on when the disk is full", async () => {
    const full = fs.openSync("/dev/full", "w")
    assert.deepEqual(await report("keep", full), { dropped: 3 })
    fs.closeSync(full)
  })

  it("lives on when stderr is closed", async () => {
    assert.deepEqual(await report("close", "pipe"), { dropped: 3 })
  })
})

describe("a pipe that nobody reads", () => {
  it("costs lines, not time without end, and is whole again once it is read", () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), "output-"))
    const fifo = path.join(dir, "fifo")
    execFileSync("mkfifo", [fifo])
    const fd = fs.openSync(fifo, fs.constants.O_RDWR | fs.constants.O_NONBLOCK)
    const output = makeOutput(fd)
    // Longer than what a pipe writes at once, so that one is cut off in the middle.
    const long = `${"x".repeat(9_999)}\n`
    let written = 0
    while (output.write(long)) written++
    assert.isAbove(written, 0)
    assert.isFalse(output.write("lost\n"))
    assert.equal(output.dropped(), 2)

    const drain = Buffer.alloc(1 << 20)
    const torn = fs.readSync(fd, drain) - written * long.length
    assert.isTrue(output.write("next\n"))
    assert.equal(drain.toString("utf8", 0, fs.readSync(fd, drain)), torn > 0 ? "\nnext\n" : "next\n")
    assert.isTrue(output.write("after\n"))
    assert.equal(drain.toString("utf8", 0, fs.readSync(fd, drain)), "after\n")
    assert.equal(output.dropped(), 2)
    fs.closeSync(fd)
    fs.rmSync(dir, { recursive: true })
  })
})
