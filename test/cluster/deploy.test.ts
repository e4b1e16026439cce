/**
 * What deploy/ offers: an API server takes every kustomization of it, and the base does on a node what it is there for.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect, inject, onTestFinished } from "vitest"

import { exampleDriver, kustomizations, monitoringFiles, onThisNode, render } from "./deployFolder.ts"
import { it } from "./World.ts"

it("there is a base, and something over it", () => {
  expect(kustomizations).toContain("base")
  expect(kustomizations.length).toBeGreaterThan(1)
})

describe.concurrent("the API server takes", () => {
  it.for(kustomizations)("%s", async (folder, { world }) => {
    expect(await render(world, folder)).toMatchObject({ kind: "DaemonSet" })
  })
})

it("with the Prometheus Operator's definitions, it takes the monitor and the alerts, and refuses changed ones", async ({
  world
}) => {
  const definitions = ["podmonitors", "prometheusrules"].map((name) =>
    join(inject("cluster").monitoring, `monitoring.coreos.com_${name}.yaml`)
  )
  await world.kubectl("apply", "--server-side", ...definitions.map((file) => `--filename=${file}`))
  onTestFinished(async () => {
    await world.kubectl("delete", ...definitions.map((file) => `--filename=${file}`))
  })
  await world.kubectl("wait", "--for=condition=Established", ...definitions.map((file) => `--filename=${file}`))
  const dryRun = ["apply", "--server-side", "--dry-run=server", "--output=name"]

  const { stdout } = await world.kubectl(...dryRun, ...monitoringFiles.map((file) => `--filename=${file}`))

  expect(stdout.trim().split("\n")).toEqual([
    "podmonitor.monitoring.coreos.com/csi-node-driver-registrar",
    "prometheusrule.monitoring.coreos.com/csi-node-driver-registrar"
  ])
  const [monitor = "", rules = ""] = monitoringFiles.map((file) => readFileSync(file, "utf8"))
  const changed = join(world.paths.folder, "changed.yaml")
  const refusal = (text: string) => {
    writeFileSync(changed, text)
    return world.kubectl(...dryRun, `--filename=${changed}`)
  }
  await expect(refusal(monitor.replace("interval: 30s", "interval: 30 s"))).rejects.toThrow("should match")
  await expect(refusal(monitor.replace("relabelings:", "relabeling:"))).rejects.toThrow("field not declared in schema")
  await expect(refusal(rules.replace("alert:", "alerts:"))).rejects.toThrow("field not declared in schema")
})

it("the base registers its driver, within its limits", async ({ world }) => {
  const driver = await world.apply(exampleDriver, onThisNode(await render(world, "base")))

  await driver.registered()

  await driver.ready()
  expect(driver.wasReadyTooEarly()).toBe(false)
  expect(driver.restarts()).toBe(0)
})
