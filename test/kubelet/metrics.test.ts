/**
 * Prometheus' own parser reads the metrics, and its linter has nothing against them, wherever a registration stands; and no counter ever goes back.
 */
import { spawnSync } from "node:child_process"
import { rm } from "node:fs/promises"

import { expect, it } from "vitest"

import { type ParsedFamily, parseExposition, seriesOf } from "../services/metrics/parseExposition.ts"
import { builtPeers } from "./build.ts"
import { freePort, type Registrar, World } from "./Harness.ts"

const lint = (scrape: string) => {
  const { status, stdout, stderr } = spawnSync(builtPeers().promlint, { input: scrape, encoding: "utf8" })
  return { status, said: stdout + stderr }
}

const clean = { status: 0, said: "" }

/** The state, as a scrape has it. */
const stateIn = (families: ReadonlyArray<ParsedFamily>): string | undefined =>
  families
    .flatMap(({ samples }) => samples)
    .find(({ name, value }) => name === "csi_node_driver_registrar_state" && value === 1)?.labels.state

const countsIn = (families: ReadonlyArray<ParsedFamily>): ReadonlyMap<string, number> =>
  new Map(
    families
      .filter(({ type }) => type !== "gauge")
      .flatMap(({ samples }) => samples.map((sample) => [seriesOf(sample), sample.value] as const))
  )

const says = ({ program }: Registrar, text: string) => program.stderr.next(text, (line) => line.includes(text))

it("the metrics are clean in each state, and counters only grow", async () => {
  const world = await World.open()
  const kubelet = await world.kubelet()
  await kubelet.refuse(1, "the node has no room")
  const port = await freePort()
  const driver = await world.driver()
  const registrar = world.registrar(driver, `--http-endpoint=127.0.0.1:${port}`)
  const seen = new Map<string, number>()
  const states: Array<string | undefined> = []
  const scrape = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: "close" } })
    const page = await response.text()
    expect(lint(page)).toEqual(clean)
    const families = parseExposition(page)
    const counts = countsIn(families)
    for (const [series, value] of seen) expect(counts.get(series), series).toBeGreaterThanOrEqual(value)
    for (const [series, value] of counts) seen.set(series, value)
    states.push(stateIn(families))
  }

  await registrar.serving()
  await scrape()
  await registrar.refused()
  await scrape()
  await registrar.accepted()
  await scrape()
  await rm(registrar.socket)
  await registrar.serving()
  await scrape()
  await registrar.accepted()
  await scrape()
  await driver.program.stop()
  await says(registrar, "Lost connection to the CSI driver, the registration stays")
  await scrape()
  await world.driver(driver.name)
  await says(registrar, "CSI driver is back")
  await scrape()
  const successor = world.registrar(driver)
  await says(registrar, "Another registrar holds the registration socket")
  await scrape()
  await successor.program.stop()
  await registrar.serving()
  await registrar.accepted()
  await scrape()

  expect(states).toEqual([
    "listening",
    "refused",
    "registered",
    "listening",
    "registered",
    "registered",
    "registered",
    "displaced",
    "registered"
  ])
  const count = (name: string, label: string, value: string) =>
    seen.get(seriesOf({ name: `csi_node_driver_registrar_${name}`, labels: { [label]: value }, value: 0 }))
  expect(count("verdicts_total", "outcome", "refused")).toBe(1)
  expect(count("verdicts_total", "outcome", "accepted")).toBe(3)
  const recreations = (reason: string) => count("socket_recreations_total", "reason", reason)
  expect({ removed: recreations("removed"), vacated: recreations("vacated") }).toEqual({ removed: 1, vacated: 1 })
  // The kubelet may ask again by itself before the socket is put there anew.
  expect([0, 1]).toContain(recreations("refused"))
})

it("the linter can tell", () => {
  expect(lint("# HELP a_count x\n# TYPE a_count gauge\na_count 1\n")).toMatchObject({ status: 1 })
  expect(lint("a{ 1\n")).toMatchObject({ status: 2 })
})
