/**
 * A rolling update that starts the new pod before it ends the old one, by the manifest of deploy/overlays/surge on the node's
 * network: two registrars and two drivers at a time on the same paths, and no port for a probe.
 */
import { expect } from "vitest"

import { tickMs } from "../kubelet/Kubelet.ts"
import { exampleDriver, onThisNode, render } from "./deployFolder.ts"
import type { Container, DaemonSet } from "./objects.ts"
import { it } from "./World.ts"

/** The kubelet forgets the old socket on one tick and takes the new one on the next; calls of the API come on top. */
const longestAbsenceMs = 3_000

/** A test does not wait for as long as a cluster may. */
const askedOften = (container: Container): Container => ({
  ...container,
  readinessProbe: { ...container.readinessProbe, periodSeconds: 2 }
})

const changed = ({ spec, ...manifest }: DaemonSet, annotations: Readonly<Record<string, string>>): DaemonSet => {
  const { template } = spec
  const metadata = { ...template.metadata, annotations }
  return { ...manifest, spec: { ...spec, template: { metadata, spec: { ...template.spec, hostNetwork: true } } } }
}

it(`an update with surge leaves the CSINode without the driver for less than ${longestAbsenceMs} ms`, async ({
  world
}) => {
  const manifest = onThisNode(await render(world, "overlays/surge"), askedOften)
  const driver = await world.apply(exampleDriver, changed(manifest, { update: "first" }))
  const old = await driver.ready()

  await driver.apply(changed(manifest, { update: "second" }))

  await driver.pod("the new one, ready", (pod) => pod.name !== old.name && pod.ready)
  expect(driver.pods.all.some((pods) => pods.length === 2)).toBe(true)
  // Whatever the end of the old pod has done, the kubelet does on its next ticks.
  await driver.csiNode.during(2.2 * tickMs, () => true)
  await driver.registered()
  expect(Math.max(...driver.absencesMs())).toBeLessThan(longestAbsenceMs)
  expect(driver.restarts()).toBe(0)
})
