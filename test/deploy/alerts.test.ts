/**
 * Claim: each alert fires when it has to, with words that name the node and the pod, and not otherwise, by Prometheus' own word: alerts.yaml says when. And
 * alerts.yaml would say so if a rule were another one.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { onTestFinished } from "vitest"
import { parse } from "yaml"

import { deployFolder } from "./kustomize.ts"
import { hasPromtool, promtool, withPromtool } from "./promtool.ts"

interface Rule {
  readonly alert: string
}
interface Case {
  readonly alert_rule_test: ReadonlyArray<{ readonly alertname: string; readonly exp_alerts: ReadonlyArray<unknown> }>
}

const rulesText = fs.readFileSync(path.join(deployFolder, "monitoring/prometheusrule.yaml"), "utf8")
const { tests: cases, ...rest }: { readonly tests: ReadonlyArray<Case> } = parse(
  fs.readFileSync(path.join(import.meta.dirname, "alerts.yaml"), "utf8")
)
const alerts: ReadonlyArray<Rule> = parse(rulesText).spec.groups[0].rules

/** The rules, as promtool reads them, and beside them their tests, or those of one alert. */
const laidOut = (text: string, alert?: string) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "alerts-"))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  const rules = path.join(folder, "rules.yaml")
  const tests = path.join(folder, "alerts.yaml")
  const isWanted = ({ alert_rule_test: expected }: Case) =>
    alert === undefined || expected.some(({ alertname }) => alertname === alert)
  fs.writeFileSync(rules, JSON.stringify(parse(text).spec))
  fs.writeFileSync(tests, JSON.stringify({ ...rest, tests: cases.filter(isWanted) }))
  return { rules, tests }
}

it("each alert has tests in which it fires, and tests in which it does not", () => {
  for (const { alert } of alerts) {
    const expected = cases.flatMap((each) => each.alert_rule_test).filter(({ alertname }) => alertname === alert)
    assert.sameMembers([...new Set(expected.map(({ exp_alerts }) => exp_alerts.length))], [0, 1])
  }
})

const changes: Readonly<Record<string, ReadonlyArray<readonly [does: string, from: RegExp, to: string]>>> = {
  CSIDriverNotRegistered: [
    ["fires a minute early", /for: 5m/, "for: 4m"],
    ["fires a minute late", /for: 5m/, "for: 6m"],
    ["counts a registrar that stands by", /"displaced"}\[10m\]\) == 1/, '"displaced"}[10m]) == 2'],
    ["forgets a registrar between two starts", /last_over_time\((\S+?\{state="registered"\})\[10m\]\)/, "$1"],
    [
      "takes scrapes that failed for the end of standing by",
      /last_over_time\((\S+?\{state="displaced"\})\[10m\]\)/,
      "$1"
    ],
    ["counts a pod that is gone", / +and on .* up\n/, ""]
  ],
  CSIDriverLost: [
    ["fires a minute early", /(alert: CSIDriverLost.*?for:) 5m/s, "$1 4m"],
    ["fires a minute late", /(alert: CSIDriverLost.*?for:) 5m/s, "$1 6m"],
    ["counts a driver that has not come yet", /"connecting"} == 1/, '"connecting"} == 2']
  ],
  CSIDriverRefusedRepeatedly: [
    ["fires for two", /("refused"}\[15m\]\)) >= 3/, "$1 >= 2"],
    ["fires for four only", /("refused"}\[15m\]\)) >= 3/, "$1 >= 4"],
    ["remembers for an hour", /("refused"})\[15m\]/, "$1[1h]"],
    ["counts every verdict", /{outcome="refused"}/, ""]
  ],
  CSIRegistrationSocketRemovedRepeatedly: [
    ["fires for two", /("removed"}\[15m\]\)) >= 3/, "$1 >= 2"],
    ["fires for four only", /("removed"}\[15m\]\)) >= 3/, "$1 >= 4"],
    ["counts every new socket", /{reason="removed"}/, ""]
  ]
}

describe.skipIf(!hasPromtool)(`promtool${withPromtool}`, () => {
  it("takes the rules", () => {
    const { status, said } = promtool(["check", "rules", "--lint-fatal", laidOut(rulesText).rules])
    assert.include(said, `SUCCESS: ${alerts.length} rules found`)
    assert.equal(status, 0)
  })

  it("finds that they fire when they have to", () => {
    const { status, said } = promtool(["test", "rules", laidOut(rulesText).tests])
    assert.equal(status, 0, said)
  })

  const rows = Object.entries(changes).flatMap(([alert, all]) => all.map((change) => [alert, ...change] as const))
  it.for(rows)("sees %s if it %s", ([alert, , from, to]) => {
    const changed = rulesText.replace(from, to)
    assert.notEqual(changed, rulesText)
    const { rules, tests } = laidOut(changed, alert)
    assert.equal(promtool(["check", "rules", rules]).status, 0)
    const { status, said } = promtool(["test", "rules", tests])
    assert.equal(status, 1)
    assert.match(said, new RegExp(`FAILED:.*alertname: ?${alert},`, "s"))
  })
})
