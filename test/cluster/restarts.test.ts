/**
 * Whoever of the three is restarted, registrar, driver or kubelet: the driver is registered in the end, and nobody else is
 * restarted for it.
 */
import { expect } from "vitest"

import { driverContainerName, registrarName } from "./manifests.ts"
import { it } from "./World.ts"

const registered = "Registered with the kubelet"

it("the driver is registered again when our container is killed, and nobody has to help", async ({ world }) => {
  const driver = await world.driver("killed.csi.k8s.io")
  const before = await driver.ready()

  driver.kill(before, registrarName)

  const after = await driver.pod(
    "ready after a restart",
    (pod) => pod.ready && pod.containers[registrarName]?.restarts === 1
  )
  await driver.log(after, registrarName, 1).says(registered)
  expect(after.name).toBe(before.name)
  expect(after.containers[driverContainerName]).toEqual(before.containers[driverContainerName])
  await driver.registered()
})

it("the driver stays registered over a restart of its own container, and ours goes on running", async ({ world }) => {
  const driver = await world.driver("restarted.csi.k8s.io")
  const before = await driver.ready()
  const log = driver.log(before, registrarName)

  driver.kill(before, driverContainerName)

  await log.says("Lost connection to the CSI driver, the registration stays")
  await log.says("CSI driver is back")
  const after = await driver.pod(
    "ready after a restart",
    (pod) => pod.ready && pod.containers[driverContainerName]?.restarts === 1
  )
  expect(after.containers[registrarName]).toEqual(before.containers[registrarName])
  expect(driver.absencesMs()).toEqual([])
})

it("the driver stays registered over a restart of the kubelet, which asks the same container again", async ({
  world
}) => {
  const driver = await world.driver("kubelet.csi.k8s.io")
  const before = await driver.ready()
  const log = driver.log(before, registrarName)
  await log.says(registered)

  world.restartKubelet()

  // Written to the same file, so by the same process.
  await log.says("plugin_registered:true")
  await driver.registered()
  expect((await driver.ready()).containers).toEqual(before.containers)
  expect(driver.absencesMs()).toEqual([])
})
