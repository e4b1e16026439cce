/**
 * Kubelets before 1.29 send the raw socket path as `:authority`. They are served like any other.
 */
import { expect, it } from "vitest"

import { World } from "./Harness.ts"

it("a kubelet before 1.29 gets the plugin's info and accepts it", async () => {
  const world = await World.open()
  const driver = await world.driver()
  const registrar = world.registrar(driver)
  await registrar.serving()

  const oldKubelet = world.oldKubelet(registrar)

  expect(await oldKubelet.exited).toMatchObject({ code: 0 })
  const [info = ""] = oldKubelet.stdout.all
  expect(JSON.parse(info)).toEqual({
    type: "CSIPlugin",
    name: driver.name,
    endpoint: driver.address,
    supported_versions: ["1.0.0"]
  })
  await registrar.accepted()
})

it("a kubelet before 1.29 gets an answer to its refusal", async () => {
  const world = await World.open()
  const registrar = world.registrar(await world.driver())
  await registrar.serving()

  const oldKubelet = world.oldKubelet(registrar, "-refusal=the node has no room")

  expect(await registrar.refused()).toContain("the node has no room")
  expect(await oldKubelet.exited).toMatchObject({ code: 0 })
  expect(registrar.program.running).toBe(true)
})
