/**
 * What deploy/ offers: an API server takes every kustomization of it, and the base does on a node what it is there for.
 */
import { describe, expect } from "vitest"

import { exampleDriver, kustomizations, onThisNode, render } from "./deployFolder.ts"
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

it("the base registers its driver, within its limits", async ({ world }) => {
  const driver = await world.apply(exampleDriver, onThisNode(await render(world, "base")))

  await driver.registered()

  await driver.ready()
  expect(driver.wasReadyTooEarly()).toBe(false)
  expect(driver.restarts()).toBe(0)
})
