/** Claim: alerts and dashboard speak of nothing but what a registrar serves: its metrics, their labels, and values that these can have. */
import * as fs from "node:fs"
import * as path from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { parse } from "yaml"

import { flags } from "../../src/services/flags/table.ts"
import {
  type Definition,
  definitions,
  outcomes,
  recreationReasons,
  states
} from "../../src/services/metrics/definitions.ts"
import { type DaemonSet, deployFolder, render } from "./kustomize.ts"

const read = (name: string) => fs.readFileSync(path.join(deployFolder, "monitoring", name), "utf8")

/** Put on each series by Prometheus and podmonitor.yaml. */
const targetLabels = ["namespace", "pod", "container", "node"]
const values: Readonly<Record<string, ReadonlyArray<string>>> = {
  state: states,
  outcome: outcomes,
  reason: Object.values(recreationReasons)
}

const served = new Map(
  Object.values<Definition>(definitions).flatMap(({ name, type, labels }) =>
    type === "histogram"
      ? [
          [`${name}_bucket`, [...labels, "le"]],
          [`${name}_sum`, labels],
          [`${name}_count`, labels]
        ]
      : [[name, labels]]
  ) as Array<[string, ReadonlyArray<string>]>
)
// Prometheus' own, for each target.
served.set("up", [])

interface Selector {
  readonly metric: string
  readonly matchers: ReadonlyArray<readonly [label: string, value: string]>
}

const keywords = ["by", "ignoring", "on", "unless", "and", "or"]

/** What an expression selects, and every label in it. Whatever is no function, keyword or label list is taken for a metric. */
const selectorsOf = (expr: string): { readonly selectors: ReadonlyArray<Selector>; readonly labels: Set<string> } => {
  const labels = new Set<string>()
  const selectors: Array<Selector> = []
  const rest = expr.replace(/\b(?:by|ignoring|on)\s*\(([^)]*)\)/g, (_, list: string) => {
    for (const label of list.split(",")) labels.add(label.trim())
    return ""
  })
  for (const [, metric = "", , inner = "", call] of rest
    .replace(/\[[^\]]*\]/g, "")
    .matchAll(/([a-zA-Z_]\w*)(\{([^}]*)\})?(\s*\()?/g)) {
    if (call !== undefined || keywords.includes(metric)) continue
    const matchers = [...inner.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)].map(
      ([, label = "", value = ""]) => [label, value] as const
    )
    for (const [label] of matchers) labels.add(label)
    selectors.push({ metric, matchers })
  }
  return { selectors, labels }
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string; readonly description: string }
}
const rules: ReadonlyArray<Rule> = parse(read("prometheusrule.yaml")).spec.groups.flatMap(
  (group: { readonly rules: ReadonlyArray<Rule> }) => group.rules
)

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: ReadonlyArray<{ readonly expr: string; readonly legendFormat: string }>
}
const dashboard = JSON.parse(read("dashboard.json"))
const panels: ReadonlyArray<Panel> = dashboard.panels

const queries = dashboard.templating.list.flatMap((variable: { readonly type: string; readonly query: string }) =>
  variable.type === "query" ? [/^label_values\((\w+), \w+\)$/.exec(variable.query)?.[1] ?? variable.query] : []
)

const expressions: ReadonlyArray<readonly [string, string]> = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ...queries.map((query: string) => ["a variable", query] as const)
]

describe.each(expressions)("%s: %s", (_, expr) => {
  const { selectors, labels } = selectorsOf(expr)

  it("selects what is served", () => {
    assert.isNotEmpty(selectors)
    for (const { metric, matchers } of selectors) {
      const own = served.get(metric)
      assert.isDefined(own, metric)
      for (const [label] of matchers) assert.include([...own!, ...targetLabels], label)
    }
  })

  it("names labels that these have, and values that there are", () => {
    const known = [...selectors.flatMap(({ metric }) => served.get(metric) ?? []), ...targetLabels]
    for (const label of labels) assert.include(known, label)
    for (const [label, value] of selectors.flatMap(({ matchers }) => matchers)) {
      for (const each of value.split("|")) if (values[label] !== undefined) assert.include(values[label], each)
    }
  })
})

it("the reader of these tests sees a metric that is not served", () => {
  const { selectors } = selectorsOf('sum by (a) (rate(nobody_total{b="c"}[5m])) > 0 unless ignoring (d) other == 1')
  assert.deepEqual(selectors, [
    { metric: "nobody_total", matchers: [["b", "c"]] },
    { metric: "other", matchers: [] }
  ])
})

it("there is an alert for each of four things, with words that name the node and the pod", () => {
  assert.deepEqual(
    rules.map(({ alert }) => alert),
    ["CSIDriverNotRegistered", "CSIDriverLost", "CSIDriverRefusedRepeatedly", "CSIRegistrationSocketRemovedRepeatedly"]
  )
  for (const { annotations } of rules) {
    assert.include(annotations.summary, "{{ $labels.node }}")
    assert.include(annotations.description, "{{ $labels.pod }}")
    for (const [, label = ""] of `${annotations.summary}${annotations.description}`.matchAll(/\$labels\.(\w+)/g)) {
      assert.include(targetLabels, label)
    }
  }
})

it("panels have ids of their own, and do not lie on each other", () => {
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  for (const [n, { gridPos: a }] of panels.entries()) {
    assert.isAtMost(a.x + a.w, 24)
    for (const { gridPos: b } of panels.slice(n + 1)) {
      assert.isTrue(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y)
    }
  }
})

it("the monitor finds the registrar of the base, at its port and path", () => {
  const { spec } = parse(read("podmonitor.yaml"))
  const [object] = render("base") as ReadonlyArray<DaemonSet & { readonly metadata: { readonly labels: object } }>
  const [endpoint] = spec.podMetricsEndpoints
  const relabelings: ReadonlyArray<{
    readonly regex?: string
    readonly replacement?: string
    readonly action?: string
  }> = endpoint.relabelings

  assert.deepEqual(spec.selector.matchLabels, object!.metadata.labels)
  assert.equal(endpoint.path, flags.metricsPath.initial)
  const container = object!.spec.template.spec.containers.find(
    ({ name }) => name === relabelings.find(({ action }) => action === "keep")?.regex
  )
  const [, port] = /^--http-endpoint=(:\d+)$/m.exec(container?.args.join("\n") ?? "") ?? []
  const addresses = relabelings.filter(({ replacement }) => replacement !== undefined)
  const addressOf = (ip: string) =>
    addresses.flatMap(({ regex, replacement }) => {
      const match = new RegExp(`^(?:${regex})$`).exec(ip)
      return match === null ? [] : [replacement?.replace("$1", match[1] ?? "")]
    })
  assert.deepEqual(addressOf("10.0.0.1"), [`10.0.0.1${port}`])
  assert.deepEqual(addressOf("fd00::1"), [`[fd00::1]${port}`])
})
