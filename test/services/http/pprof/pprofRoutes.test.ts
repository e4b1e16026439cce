/**
 * Claim: `seconds` is a whole number from 1 to 300, and 30 where it is not given; a profile ends with its time, or when its client does; whatever is asked
 * wrongly is told in one line, and is never profiled.
 */
import { Socket } from "node:net"
import { gunzipSync } from "node:zlib"

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"

import type { Answer } from "../../../../src/services/http/answer.ts"
import { parseTarget } from "../../../../src/services/http/goMux.ts"
import { pprofRoutes } from "../../../../src/services/http/pprof/pprofRoutes.ts"
import { AlreadyProfilingError, V8Profiler } from "../../../../src/services/http/pprof/V8Profiler.ts"
import { callFrameOf } from "./callFrames.ts"
import { readProfile } from "./readProfile.ts"

/** Tells what it was asked for. */
class FakeProfiler {
  readonly asked: Array<string> = []
  running = 0
  busy = false

  readonly layer = Layer.succeed(V8Profiler, {
    cpu: (intervalUs, until) =>
      Effect.suspend(() => {
        if (this.busy) return Effect.fail(new AlreadyProfilingError())
        this.asked.push(`cpu each ${intervalUs}`)
        this.running++
        const profile = {
          nodes: [
            { id: 1, callFrame: callFrameOf("(root)"), children: [2] },
            { id: 2, callFrame: callFrameOf("run", "program.cjs") }
          ],
          startTime: 0,
          endTime: 1_000,
          samples: [2],
          timeDeltas: [1_000]
        }
        return Effect.ensuring(
          Effect.as(until, profile),
          Effect.sync(() => this.running--)
        )
      }),
    heap: (collectGarbage) =>
      Effect.sync(() => {
        this.asked.push(collectGarbage ? "heap, collected" : "heap")
        const child = { id: 2, callFrame: callFrameOf("keep", "program.cjs"), selfSize: 640, children: [] }
        const head = { id: 1, callFrame: callFrameOf("(root)"), selfSize: 0, children: [child] }
        return { head, samples: [{ nodeId: 2 }] }
      })
  })
}

const world = Effect.fnUntraced(function* () {
  const profiler = new FakeProfiler()
  const routes = yield* Effect.provide(pprofRoutes, profiler.layer)
  const connection = new Socket()
  const ask = (raw: string, method = "GET"): Effect.Effect<Answer> => {
    const target = parseTarget(method, `/debug/pprof/${raw}`)
    assert.isDefined(target)
    const route = routes.get(target.path)
    assert.isDefined(route)
    return route({ method, target, headers: {} }, connection)
  }
  return { profiler, ask, connection }
})

const told = ({ status, body, headers = [] }: Answer) => [status, body, Object.fromEntries(headers)]
const profileIn = ({ body }: Answer) => readProfile(gunzipSync(Buffer.from(body, "latin1")))
const attached = (name: string) => ({
  "Content-Disposition": `attachment; filename="${name}"`,
  "Content-Type": "application/octet-stream",
  "X-Content-Type-Options": "nosniff"
})
const asPprof = {
  "Content-Type": "text/plain; charset=utf-8",
  "X-Content-Type-Options": "nosniff",
  "X-Go-Pprof": "1"
}

describe("profile", () => {
  it.effect.each([
    ["profile", 30],
    ["profile?", 30],
    ["profile?seconds=1", 1],
    ["profile?x=y&seconds=31", 31],
    ["profile?seconds=0300", 300]
  ] as const)("%s takes %d s, with a hundred samples in each", ([target, seconds]) =>
    Effect.gen(function* () {
      const { profiler, ask, connection } = yield* world()
      const listeners = () => connection.listenerCount("end") + connection.listenerCount("close")
      const before = listeners()
      const asked = yield* Effect.forkChild(ask(target))
      yield* TestClock.adjust(seconds * 1_000 - 1)
      assert.equal(profiler.running, 1)
      yield* TestClock.adjust(1)

      const answer = yield* Fiber.join(asked)
      assert.equal(answer.status, 200)
      assert.deepStrictEqual(Object.fromEntries(answer.headers ?? []), attached("profile"))
      const { samples, period, takenAtMs } = profileIn(answer)
      assert.deepStrictEqual(
        samples.map(({ stack, values }) => [stack[0]?.name, ...values]),
        [["run program.cjs:1:1", 1, 1_000_000]]
      )
      assert.equal(period.every, 10_000_000)
      assert.equal(takenAtMs, 0)
      assert.deepStrictEqual(profiler.asked, ["cpu each 10000"])
      assert.equal(listeners(), before)
    })
  )

  it.effect.each(["0", "301", "-1", "1.5", "", "x", "+5", "1e2", "%35%30%30", "5%00", "9".repeat(400)])(
    "seconds=%s is 400",
    (seconds) =>
      Effect.gen(function* () {
        const { profiler, ask } = yield* world()
        const answer = yield* ask(`profile?seconds=${seconds}`)
        assert.deepStrictEqual(told(answer), [400, "seconds must be a whole number from 1 to 300\n", asPprof])
        assert.isEmpty(profiler.asked)
      })
  )

  it.effect("one that is asked for while another runs is 500, in Go's words", () =>
    Effect.gen(function* () {
      const { profiler, ask } = yield* world()
      profiler.busy = true
      assert.deepStrictEqual(told(yield* ask("profile")), [
        500,
        "Could not enable CPU profiling: cpu profiling already in use\n",
        asPprof
      ])
    })
  )

  it.effect("a client that closes its side gets what there is", () =>
    Effect.gen(function* () {
      const { profiler, ask, connection } = yield* world()
      const asked = yield* Effect.forkChild(ask("profile"))
      yield* TestClock.adjust(1)
      connection.emit("end")

      assert.equal(profileIn(yield* Fiber.join(asked)).samples.length, 1)
      assert.equal(profiler.running, 0)
    })
  )

  it.effect("a client that has gone gets nothing, and its profile ends", () =>
    Effect.gen(function* () {
      const { profiler, ask, connection } = yield* world()
      const asked = yield* Effect.forkChild(ask("profile"))
      yield* TestClock.adjust(1)
      assert.equal(profiler.running, 1)
      connection.emit("close")

      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(asked)))
      assert.equal(profiler.running, 0)
      connection.destroy()
      assert.isTrue(Exit.hasInterrupts(yield* Effect.exit(ask("profile"))))
      assert.equal(profiler.running, 0)
    })
  )
})

describe("heap", () => {
  it.effect.each([
    ["heap", "heap"],
    ["heap?gc=0", "heap"],
    ["heap?gc=x", "heap"],
    ["heap?gc=1", "heap, collected"]
  ] as const)("%s: %s", ([target, asked]) =>
    Effect.gen(function* () {
      const { profiler, ask } = yield* world()
      const answer = yield* ask(target)
      assert.deepStrictEqual(profiler.asked, [asked])
      assert.deepStrictEqual(Object.fromEntries(answer.headers ?? []), attached("heap"))
      assert.deepStrictEqual(
        profileIn(answer).samples.map(({ stack, values }) => [stack[0]?.name, ...values]),
        [["keep program.cjs:1:1", 1, 640]]
      )
    })
  )

  it.effect("what changes within some seconds is not to be had, in Go's words", () =>
    Effect.gen(function* () {
      const { profiler, ask } = yield* world()
      assert.deepStrictEqual(told(yield* ask("heap?seconds=5")), [
        400,
        '"seconds" parameter is not supported for this profile type\n',
        asPprof
      ])
      assert.isEmpty(profiler.asked)
    })
  )
})

it.effect("the page names what there is, and has no script", () =>
  Effect.gen(function* () {
    const { ask } = yield* world()
    const { status, body, headers } = yield* ask("")
    assert.equal(status, 200)
    assert.deepStrictEqual(headers?.[0], ["Content-Type", "text/html; charset=utf-8"])
    assert.deepStrictEqual(
      Array.from(body.matchAll(/href="([^"]*)"/g), ([, href]) => href),
      ["profile", "heap"]
    )
    assert.notMatch(body, /script/i)
  })
)

it.effect("HEAD takes no profile, and other methods are 405", () =>
  Effect.gen(function* () {
    const { profiler, ask } = yield* world()
    for (const name of ["profile", "heap"]) {
      assert.deepStrictEqual(told(yield* ask(name, "HEAD")), [200, "", attached(name)])
      for (const method of ["POST", "CONNECT", "FOO"]) {
        const answer = yield* ask(name, method)
        assert.equal(answer.status, 405)
        assert.deepStrictEqual(answer.headers?.[0], ["Allow", "GET, HEAD"])
      }
    }
    assert.isEmpty(profiler.asked)
  })
)
