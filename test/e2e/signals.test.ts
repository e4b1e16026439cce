/**
 * Claim: SIGTERM, SIGINT and SIGHUP end a registrar at once and with exit 0 whatever it is doing, once or twice, with its socket gone, only its
 * own, and open calls answered; SIGQUIT prints where it stands; other signals change nothing. Also as PID 1, and at any moment of the start.
 *
 * `stopping` is left out as a state to be signalled in: it is over in milliseconds, and the second of two signals arrives in it.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { setTimeout } from "node:timers/promises"

import fc from "fast-check"
import { describe, expect } from "vitest"

import { beginGetInfo } from "../fakes/peers/openCall.ts"
import { said } from "./Registrar.ts"
import { type HeldState, states } from "./states.ts"
import { driverName, it, promptMs, socketName } from "./World.ts"

const stopSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const
const names = Object.keys(states) as Array<HeldState>

describe.for(names)("in %s", (state) => {
  /** A rival's socket is there before and after. */
  const others = state === "displaced" ? [socketName] : []

  it.for(stopSignals.flatMap((signal) => [1, 2].map((times) => ({ signal, times }))))(
    "$signal, sent $times times, ends it in time and leaves nothing",
    async ({ signal, times }, { world }) => {
      const registrar = await states[state](world)

      const { code, tookMs } = await registrar.end(signal, times)

      expect(code).toBe(0)
      expect(tookMs).toBeLessThanOrEqual(promptMs)
      expect(registrar.lastLine).toContain(`] "Stopping" signal="${signal}"`)
      expect(world.entries()).toEqual(others)
    }
  )

  it("SIGQUIT ends it with exit 2, and tells the state and how it got there", async ({ world }) => {
    const registrar = await states[state](world)

    expect((await registrar.end("SIGQUIT")).code).toBe(2)

    const dump = registrar.lines.filter((line) => line.includes('] "SIGQUIT: '))
    expect(dump[0]).toContain(`"SIGQUIT: state" state="${state}"`)
    expect(dump.length).toBeGreaterThan(1)
    expect(dump.at(-1)).toContain(`after="${state}"`)
    expect(world.entries()).toEqual(others)
  })

  it("SIGUSR1, SIGUSR2, SIGALRM and SIGPIPE change nothing", async ({ world }) => {
    const registrar = await states[state](world)
    const linesBefore = registrar.lines.length

    for (const signal of ["SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPIPE"] as const)
      process.kill(registrar.program.pid, signal)

    // A signal that kills would do so before one that is sent later is heard.
    expect(await registrar.end()).toMatchObject({ code: 0, signal: null })
    const messages = registrar.messages.slice(linesBefore).filter((message) => message !== said.transition)
    expect(messages).toEqual([said.stopping])
  })
})

it("calls that are on their way when the signal comes are answered", async ({ world }) => {
  const registrar = await states.registered(world)
  const kubelets = Array.from({ length: 20 }, () => world.kubelet())
  await Promise.all(kubelets.map((kubelet) => kubelet.getInfo()))

  const calls = kubelets.map((kubelet) => kubelet.getInfo())
  // Frames leave at the end of the turn.
  await new Promise(setImmediate)
  const ending = registrar.end()

  expect((await Promise.all(calls)).map(({ name }) => name)).toEqual(kubelets.map(() => driverName))
  expect(await ending).toMatchObject({ code: 0 })
})

it("a call that is half there when the signal comes is answered, and its client closes nothing", async ({ world }) => {
  const registrar = await states.registered(world)
  const call = await beginGetInfo(world.socket)

  const ending = registrar.end()
  await registrar.says(said.stopping)
  const { grpcStatus, bytes } = await call.finish()

  expect(grpcStatus).toBe("0")
  expect(bytes).toBeGreaterThan(driverName.length)
  const { code, tookMs } = await ending
  expect(code).toBe(0)
  expect(tookMs).toBeLessThanOrEqual(promptMs)
  call.close()
})

it("a call that is never finished delays the end by no more than that", async ({ world }) => {
  const registrar = await states.registered(world)
  const call = await beginGetInfo(world.socket)

  const { code, tookMs } = await registrar.end()

  expect(code).toBe(0)
  expect(tookMs).toBeLessThanOrEqual(promptMs)
  expect(world.entries()).toEqual([])
  call.close()
})

it("at any moment of the start, once it has handlers: exit 0, or 2 for SIGQUIT, and nothing left", {
  timeout: 60_000
}, async ({ world }) => {
  await world.driver()
  const moments = fc.record({ delayMs: fc.nat(150), signal: fc.constantFrom(...stopSignals, "SIGQUIT" as const) })
  await fc.assert(
    fc.asyncProperty(moments, async ({ delayMs, signal }) => {
      const registrar = world.registrar()
      await registrar.says(said.version)
      if (delayMs > 0) await setTimeout(delayMs)
      expect(await registrar.end(signal)).toMatchObject({ code: signal === "SIGQUIT" ? 2 : 0, signal: null })
      expect(world.entries()).toEqual([])
    }),
    { numRuns: 25, endOnFailure: true }
  )
})

const unshare = ["unshare", "--pid", "--fork", "--kill-child"]
const mayUnshare = spawnSync("unshare", [...unshare.slice(1), "true"]).status === 0

describe(mayUnshare ? "as PID 1" : "as PID 1 (left out: unshare is not permitted here)", () => {
  it.skipIf(!mayUnshare).for([
    { signal: "SIGTERM", code: 0 },
    { signal: "SIGINT", code: 0 },
    { signal: "SIGHUP", code: 0 },
    { signal: "SIGQUIT", code: 2 }
  ] as const)("$signal ends it with exit $code", async ({ signal, code }, { world }) => {
    world.wrapper = unshare
    const registrar = await states.listening(world)
    const { pid } = registrar.program
    const inner = Number(fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"))

    for (const ignored of ["SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPIPE"] as const) process.kill(inner, ignored)
    const ending = await registrar.end(signal, 1, inner)

    expect(registrar.lines[0]).toMatch(/^I\S+ \S+ {7}1 /)
    expect(ending.code).toBe(code)
    expect(ending.tookMs).toBeLessThanOrEqual(promptMs)
    expect(world.entries()).toEqual([])
  })
})
