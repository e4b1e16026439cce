/**
 * What is not as it has to be yet costs no restart of our container: it goes on, says what is missing, and the pod is not ready.
 * The cases stand side by side on the node, since each is a wait.
 */
import { describe, expect } from "vitest"

import { registrarName } from "./manifests.ts"
import { it } from "./World.ts"

const lateSeconds = 40
const failingSeconds = 60
/** The kubelet's own back-off after a minute of failures, which no new socket shortens; and the time of a busy machine. */
const kubeletRestMs = 40_000
const busyMs = 30_000

const refused = "Registration was refused by the kubelet, announcing again"
const notCalled = "Still waiting for the kubelet to call"

describe.concurrent("side by side", () => {
  it(`a driver that starts ${lateSeconds} s late is registered, and our container is not restarted`, async ({
    world
  }) => {
    const driver = await world.driver("late.csi.k8s.io", { driverFlags: [`-start-after=${lateSeconds}s`] })

    await driver.registered(lateSeconds * 1_000 + busyMs)

    await driver.ready()
    expect(driver.wasReadyTooEarly()).toBe(false)
    expect(driver.restarts()).toBe(0)
  })

  it(`a driver whose NodeGetInfo fails for ${failingSeconds} s is registered, and our container is not restarted`, async ({
    world
  }) => {
    const driver = await world.driver("failing.csi.k8s.io", {
      driverFlags: [`-node-get-info-fails-for=${failingSeconds}s`]
    })

    await driver.registered(failingSeconds * 1_000 + kubeletRestMs + busyMs)

    const pod = await driver.ready()
    expect(driver.wasReadyTooEarly()).toBe(false)
    expect(driver.restarts()).toBe(0)
    expect(await driver.log(pod, registrarName).says(refused)).toContain("this node is not known before")
  })

  it("a folder at /registration that the kubelet does not watch is named in our log and by diagnose, and the pod is not ready", async ({
    world
  }) => {
    const driver = await world.driver("astray.csi.k8s.io", { registryFolder: "/var/lib/kubelet/plugins" })
    const pod = await driver.pod("running", ({ containers }) => containers[registrarName]?.state === "running")

    const line = await driver.log(pod, registrarName).says(notCalled)

    expect(line).toContain(`registrationFolder="/registration"`)
    expect(line).toMatch(/mount="\S*\/kubelet\/plugins on /)
    const { code, text, report } = await world.diagnose(pod)
    expect(code).toBe(1)
    expect(report.cause).toEqual({ check: "folder-on-host", fault: "kubelet-not-watching" })
    expect(text).toMatch(/^folder-on-host +FAILED +\S*\/kubelet\/plugins on /m)
    expect(text.trimEnd().split("\n").at(-1)).toMatch(/^kubelet-not-watching: /)
    expect(driver.pods.all.flat().some(({ ready }) => ready)).toBe(false)
    expect(driver.csiNode.all.some(driver.isRegisteredIn)).toBe(false)
    expect(driver.restarts()).toBe(0)
  })
})
