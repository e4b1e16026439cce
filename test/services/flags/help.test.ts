/** Claim: help has the layout of Go's flag package, and help and the README's table name every flag of the parser. */

import { assert, describe, it } from "vitest"

import { flagsTable, usage } from "../../../src/services/flags/help.ts"
import { flags, klogFlags } from "../../../src/services/flags/table.ts"

const names = Object.values(flags).map((flag) => flag.name)
const lines = usage("registrar").split("\n")

describe("usage", () => {
  it("has two lines for each flag, sorted by name", () => {
    const heads = lines.filter((line) => line.startsWith("  -"))
    assert.deepEqual(
      heads.map((line) => line.trim().split(" ")[0]),
      names.map((name) => `-${name}`).sort()
    )
    for (const head of heads) assert.match(lines[lines.indexOf(head) + 1] ?? "", /^ {4}\t\S/)
  })

  it.each([
    "  -automaxprocs",
    "  -connection-timeout duration",
    "  -csi-address string",
    "  -enable-pprof",
    "  -health-port --health-port",
    "  -http-endpoint :8080",
    "  -kubelet-registration-path string",
    "  -log-flush-frequency duration",
    "  -log-json-info-buffer-size value",
    "  -log-json-split-stream",
    "  -log-text-info-buffer-size value",
    "  -log-text-split-stream",
    "  -logging-format string",
    "  -mode string",
    "  -plugin-registration-path string",
    "  -timeout duration",
    "  -v value",
    "  -version",
    "  -vmodule value"
  ])("has upstream's line %j", (line) => assert.include(lines, line))

  it("shows defaults that are not zero", () => {
    const shown = lines.flatMap((line) => / \((default .*)\)$/.exec(line)?.[1] ?? [])
    assert.deepEqual(shown, [
      'default "/run/csi/socket"',
      "default 5m0s",
      "default 5s",
      'default "text"',
      'default "/metrics"',
      'default "/registration"',
      'default "alive"',
      "default 10",
      "default 1s"
    ])
  })

  it("names the klog flags apart", () => {
    for (const { name } of klogFlags) assert.include(lines.at(-2), `-${name}`)
  })
})

describe("flagsTable", () => {
  it("has one row of four cells for each flag", () => {
    const rows = flagsTable().split("\n").slice(2, -3)
    assert.deepEqual(
      rows.map((row) => /^\| `--([\w-]+)` \|[^|]+\|[^|]+\|[^|]+\|$/.exec(row)?.[1]),
      [...names].sort()
    )
  })
})
