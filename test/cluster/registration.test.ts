/**
 * Our image as a container of a DaemonSet is found by a real kubelet, and what the API server knows of the driver follows it.
 */
import { readFileSync } from "node:fs"

import { expect } from "vitest"

import { checkNames } from "../e2e/checkNames.ts"
import { parseExposition } from "../services/metrics/parseExposition.ts"
import { nodeName } from "./configuration.ts"
import { port, registrarName } from "./manifests.ts"
import { type Node, nodeIds } from "./objects.ts"
import { pidOfContainer, statusOf } from "./processes.ts"
import { it } from "./World.ts"

const topologyLabel = "io.kubernetes.storage.mock/node"

it("the CSINode, the annotation and a label of the node name the driver, and the pod is ready no sooner", async ({
  world
}) => {
  // A label outlives the driver that it was for.
  await world.kubectl("label", "node", nodeName, `${topologyLabel}-`)
  const driver = await world.driver("first.csi.k8s.io")

  expect(await driver.registered()).toEqual({
    name: driver.name,
    nodeID: driver.name,
    topologyKeys: [topologyLabel],
    allocatable: { count: 7 }
  })
  const node = await world.api.get<Node>(`/api/v1/nodes/${nodeName}`)
  expect(nodeIds(node)).toEqual({ [driver.name]: driver.name })
  expect(node.metadata.labels).toMatchObject({ [topologyLabel]: "some-mock-node" })

  await driver.ready()
  expect(driver.wasReadyTooEarly()).toBe(false)
  expect(driver.restarts()).toBe(0)
})

it("nothing is left of the driver in CSINode, annotation and folder when its DaemonSet is deleted", async ({
  world
}) => {
  const driver = await world.driver("leaving.csi.k8s.io")
  await driver.ready()

  await driver.remove()

  expect(driver.csiNode.all.at(-1)?.drivers).toEqual([])
  expect(driver.nodeIds.all.at(-1)).toEqual({})
  expect(world.announced()).toEqual([])
  const codes = driver.pods.all.flat().map(({ containers }) => containers[registrarName]?.exitCode)
  expect(codes.filter((code) => code !== undefined)).toContain(0)
})

it("our container is PID 1, with no capability, no new privileges, and nowhere to write but its mounts; diagnose and metrics say there that all is well", async ({
  world
}) => {
  const driver = await world.driver("restricted.csi.k8s.io")
  const pod = await driver.ready()

  const pid = pidOfContainer(pod.containers[registrarName]?.id ?? "")
  expect(statusOf(pid)).toMatchObject({
    NSpid: expect.stringMatching(/\t1$/),
    CapEff: "0000000000000000",
    CapBnd: "0000000000000000",
    NoNewPrivs: "1"
  })
  const root = readFileSync(`/proc/${pid}/mounts`, "utf8")
    .split("\n")
    .find((line) => line.split(" ")[1] === "/")
  expect(root?.split(" ")[3]?.split(",")).toContain("ro")

  const { code, text, report } = await world.diagnose(pod)
  expect(report.checks.filter(({ verdict }) => verdict !== "ok")).toEqual([])
  expect(code).toBe(0)
  for (const name of checkNames) expect(text).toMatch(new RegExp(`^${name} +ok `, "m"))
  expect(text.trimEnd().split("\n").at(-1)).toBe(`${driver.name}: all is well`)

  const [, status, page = ""] = /^(\d+) (.*)$/s.exec(await world.fetch(`http://${pod.address}:${port}/metrics`)) ?? []
  expect(status).toBe("200")
  const samples = parseExposition(`${page}\n`).flatMap((family) => family.samples)
  expect(samples).toContainEqual({
    name: "csi_node_driver_registrar_state",
    labels: { state: "registered" },
    value: 1
  })
})
