/**
 * Claim: Prometheus' own tool reads what is served, in every state, and has nothing against it; and each panel of the dashboard shows something, when its
 * queries are put to Prometheus with what registrars serve.
 */
import * as fs from "node:fs"
import { join } from "node:path"

import { expect } from "vitest"

import { deployFolder } from "../deploy/kustomize.ts"
import { hasPromtool, promtool, withPromtool } from "../deploy/promtool.ts"
import { type ParsedSample, parseExposition } from "../services/metrics/parseExposition.ts"
import { Http } from "./Http.ts"
import { said } from "./Registrar.ts"
import { type HeldState, states } from "./states.ts"
import { it as itself, type World } from "./World.ts"

const it = itself.skipIf(!hasPromtool)

const scrape = async (world: World, state: HeldState): Promise<string> => {
  const http = await Http.open()
  await states[state](world, http.flag)
  return (await http.fetch("/metrics")).text()
}

it.for(Object.keys(states) as ReadonlyArray<HeldState>)(
  `promtool has nothing against the metrics: %s${withPromtool}`,
  async (state, { world }) => {
    expect(promtool(["check", "metrics"], await scrape(world, state))).toEqual({ status: 0, said: "" })
  }
)

it(`promtool tells bad metrics${withPromtool}`, () => {
  expect(promtool(["check", "metrics"], "# HELP a_count x\n# TYPE a_count gauge\na_count 1\n").status).not.toBe(0)
  expect(promtool(["check", "metrics"], "a{ 1\n").status).not.toBe(0)
})

interface Panel {
  readonly targets: ReadonlyArray<{ readonly expr: string }>
}

const variables = { $namespace: ".*", $__rate_interval: "2m" }

const panels: ReadonlyArray<Panel> = JSON.parse(
  fs.readFileSync(join(deployFolder, "monitoring/dashboard.json"), "utf8")
).panels

/** As Grafana would send them. */
const queries = panels
  .flatMap(({ targets }) => targets)
  .map(({ expr }) => Object.entries(variables).reduce((text, [name, value]) => text.replaceAll(name, value), expr))

/** What Prometheus would have after 10 minutes in which a value stays, or each counter counts one at a time. */
const seriesOf = (pod: string, page: string) => {
  const target = { namespace: "kube-system", pod, container: "node-driver-registrar", node: "n" }
  const shown = ({ name, labels }: ParsedSample) => {
    const pairs = Object.entries({ ...labels, ...target }).map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    return `${name}{${pairs.join(",")}}`
  }
  return parseExposition(page).flatMap(({ type, samples }) =>
    samples.map((sample) => ({
      series: shown(sample),
      values: `${sample.value.toFixed(6)}+${type === "gauge" ? 0 : 1}x20`
    }))
  )
}

/** Puts queries to Prometheus: each has to answer with a sample at least. */
const answered = (world: World, pages: Readonly<Record<string, string>>, exprs: ReadonlyArray<string>) => {
  const file = join(world.root, "queries.yaml")
  const test = {
    interval: "30s",
    input_series: Object.entries(pages).flatMap(([pod, page]) => seriesOf(pod, page)),
    promql_expr_test: exprs.map((expr) => ({
      expr: `count(${expr}) > bool 0`,
      eval_time: "10m",
      exp_samples: [{ labels: "{}", value: 1 }]
    }))
  }
  fs.writeFileSync(file, JSON.stringify({ evaluation_interval: "30s", tests: [test] }))
  return promtool(["test", "rules", file])
}

it(`the dashboard has an answer to each query, of a driver that is refused and then registered${withPromtool}`, async ({
  world
}) => {
  const http = await Http.open()
  const page = async () => (await http.fetch("/metrics")).text()
  const registrar = await states.refused(world, http.flag)
  const refused = await page()
  await registrar.says(said.started)
  await world.accepts(registrar)
  const pages = { refused, registered: await page() }

  const told = answered(world, pages, queries)

  expect(told).toEqual({ status: 0, said: expect.stringContaining("SUCCESS") })
  expect(queries.length).toBeGreaterThan(panels.length)
  expect(answered(world, pages, ["nobody_total"])).toEqual({ status: 1, said: expect.stringContaining("nobody_total") })
  expect(answered(world, pages, ["sum by ("])).toEqual({ status: 1, said: expect.stringContaining("parse error") })
})
