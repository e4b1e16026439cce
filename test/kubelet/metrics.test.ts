/**
 * Prometheus' own parser reads the metrics, and its linter has nothing against them, before there is a driver and after it has been registered.
 */
import { spawnSync } from "node:child_process"

import { expect, it } from "vitest"

import { builtPeers } from "./build.ts"
import { freePort, World } from "./Harness.ts"

const lint = (scrape: string) => {
  const { status, stdout, stderr } = spawnSync(builtPeers().promlint, { input: scrape, encoding: "utf8" })
  return { status, said: stdout + stderr }
}

const clean = { status: 0, said: "" }

it("the metrics of a registered driver are clean", async () => {
  const world = await World.open()
  await world.kubelet()
  const port = await freePort()
  const registrar = world.registrar(await world.driver(), `--http-endpoint=127.0.0.1:${port}`)
  const scrape = async () =>
    (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: "close" } })).text()

  await registrar.serving()
  expect(lint(await scrape())).toEqual(clean)
  await registrar.accepted()
  expect(lint(await scrape())).toEqual(clean)
})

it("the linter can tell", () => {
  expect(lint("# HELP a_count x\n# TYPE a_count gauge\na_count 1\n")).toMatchObject({ status: 1 })
  expect(lint("a{ 1\n")).toMatchObject({ status: 2 })
})
