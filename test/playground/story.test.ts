// Claim: `npm start` tells six things that happen to the real registrar, in order, each with what a cluster sees and what upstream does;
// it ends with exit 0 and leaves nothing. When one does not happen it says so and ends with exit 1.
// World: the playground as a child process, its output a pipe.
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { Playground } from "./Playground.ts"

const limitMs = 30_000

describe("the whole story", () => {
  let playground: Playground
  let code: unknown

  beforeAll(async () => {
    playground = new Playground()
    code = await playground.ended
  }, limitMs)
  afterAll(() => playground.close())

  it("happens as told", () => {
    expect(playground.stderr).toBe("")
    expect(playground.lines.all.at(-1)).toMatch(
      /^All 6 steps happened as told, in [\d.]+ s; no process and no file is left\.$/
    )
    expect(code).toBe(0)
  })

  // Two speakers of one moment may come in either order, so only what follows from what came before is listed.
  it.each([
    [
      "1. The driver comes late",
      "Waiting for the CSI driver",
      "the driver starts",
      "says yes",
      "is registered",
      "✔ registered"
    ],
    ["2. The kubelet restarts", "asks GetInfo", "says yes", "✔ registered again", "through the same socket"],
    [
      "3. Somebody deletes the registration socket",
      "somebody deletes",
      "unregisters",
      "asks GetInfo",
      "says yes",
      "✔ noticed"
    ],
    ["4. The kubelet refuses once", "says no", "(the registrar answers)", "asks GetInfo", "says yes", "✔ answered"],
    [
      "5. A second registrar of the same driver takes over, then leaves",
      "second     starts as process",
      "registrar  is displaced",
      "second     is registered",
      "SIGTERM",
      "registrar  is registered",
      "✔ the first was registered again"
    ],
    ["6. The registrar is told to stop: SIGTERM", "world      SIGTERM", "unregisters", "✔ exit 0 after", "All 6 steps"]
  ])("tells: %s", (heading, ...sentences) => {
    const from = playground.lines.all.indexOf(heading)
    expect(from, heading).toBeGreaterThanOrEqual(0)
    const rest = playground.lines.all.slice(from).join("\n")
    const end = rest.indexOf("A cluster sees:")
    let at = 0
    for (const sentence of sentences) {
      const found = rest.indexOf(sentence, at)
      expect(found, `${sentence}, in:\n${rest.slice(0, end)}`).toBeGreaterThanOrEqual(at)
      at = found
    }
  })

  it("says for each step what a cluster sees and what upstream does", () => {
    const starting = (text: string) => playground.lines.all.filter((line) => line.startsWith(text)).length
    expect([starting("  A cluster sees: "), starting("  Upstream v2.17: ")]).toEqual([6, 6])
  })

  it("is plain text", () => expect(playground.lines.all.join("\n")).not.toContain("\u001b"))

  it("leaves nothing", () => expect(playground.leftOvers()).toEqual([]))
})

it(
  "fails, and says what was expected and seen, when the registrar dies",
  async () => {
    const playground = Playground.start()
    const pid = Number(/process (\d+)/.exec(await playground.says("registrar  starts as process"))?.[1])
    await playground.says("3. Somebody deletes")
    process.kill(pid, "SIGKILL")
    await playground.says("✘ not as told: 3. Somebody deletes the registration socket")
    await playground.says("expected: ")
    await playground.says("the registrar has ended (ended by SIGKILL)")
    expect(await playground.ended).toBe(1)
    expect(playground.leftOvers()).toEqual([])
  },
  limitMs
)

it(
  "fails when a step does not happen within its limit",
  async () => {
    const playground = Playground.start()
    const pid = Number(/process (\d+)/.exec(await playground.says("registrar  starts as process"))?.[1])
    await playground.says("✔ registered")
    process.kill(pid, "SIGSTOP")
    await playground.says("not within 10 s")
    process.kill(pid, "SIGCONT")
    expect(await playground.ended).toBe(1)
    expect(playground.leftOvers()).toEqual([])
  },
  limitMs
)
