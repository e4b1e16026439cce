/** Claim: a process under measurement has a clean environment, its end is seen with what its main thread has used, and it ends when asked. */
import { assert, it } from "@effect/vitest"

import { Process } from "../../bench/Process.ts"

const sh = (script: string) => new Process({ file: "/bin/sh", args: ["-c", script], environment: {} })

it("what a process has used is read at its end", async () => {
  const { code, last } = await sh("n=0; while [ $n -lt 20000 ]; do n=$((n + 1)); done; exit 3").ended
  assert.strictEqual(code, 3)
  assert.isAbove(last.cpuMs, 1)
  assert.isAtLeast(last.waitedMs, 0)
})

it("nothing of our environment is in it", async () => {
  process.env.BENCH_TEST = "set"
  const { code } = await sh('[ -z "$BENCH_TEST" ]').ended
  assert.strictEqual(code, 0)
})

it("work that waits for a process which ends is broken off, and says how it ended", async () => {
  const never = new Promise(() => {})
  const error = await sh("exit 2")
    .during(never)
    .catch((error: Error) => error)
  assert.include(String(error), "it ended with 2")
})

it("a program that is not there is told", async () => {
  const error = await new Process({ file: "/nonexistent", args: [], environment: {} }).ended.catch((error) => error)
  assert.include(String(error), "ENOENT")
})

it("SIGTERM ends it", async () => {
  const { signal } = await sh("exec sleep 60").end()
  assert.strictEqual(signal, "SIGTERM")
})
