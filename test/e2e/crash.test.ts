/**
 * Claim: an exception that nobody has caught ends the registrar with exit 1, its stack on the last line, and its socket gone.
 */
import { join } from "node:path"

import { describe, expect } from "vitest"

import { type HeldState, states } from "./states.ts"
import { bundleOnly, it, preloads, promptMs, socketName } from "./World.ts"

const fixture = join(import.meta.dirname, "fixtures/throwOnSignal.cjs")

const faults = [
  { signal: "SIGWINCH", text: "Error: thrown by the test" },
  { signal: "SIGURG", text: "Error: rejected by the test" }
] as const

describe.for(["connecting", "listening", "registered", "displaced"] satisfies Array<HeldState>)("in %s", (state) => {
  it.skipIf(!preloads).for(faults)(
    `$text: exit 1, the stack at the end, nothing left${bundleOnly}`,
    async ({ signal, text }, { world }) => {
      world.wrapper = ["env", `NODE_OPTIONS=--require=${fixture}`]
      const registrar = await states[state](world)

      const { code, tookMs } = await registrar.end(signal)

      expect(code).toBe(1)
      expect(tookMs).toBeLessThanOrEqual(promptMs)
      const from = registrar.lines.findIndex((line) => line.includes('] "Internal error" err=<'))
      expect(registrar.lines[from + 1]).toContain(text)
      expect(registrar.lastLine).toContain("please report it with these lines")
      expect(world.entries()).toEqual(state === "displaced" ? [socketName] : [])
    }
  )
})
