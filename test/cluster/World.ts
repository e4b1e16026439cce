/**
 * The world of a case: the node that setup.ts has started, and drivers with our registrar on it, each a DaemonSet of its own.
 *
 * A world ends with its test: its DaemonSets are deleted, and neither a pod nor an entry in the CSINode nor a socket may be
 * left of them. Worlds of concurrent cases share the node and nothing else. A failing case prints what its pods have said,
 * and what the kubelet has.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"

import { inject, test } from "vitest"

import type { Report } from "../../src/services/diagnose/report.ts"
import { Api } from "./Api.ts"
import { pathsIn } from "./configuration.ts"
import { DeployedDriver } from "./DeployedDriver.ts"
import { daemonSet, namespace, type Options, registrarName } from "./manifests.ts"
import { runInside, type Said } from "./namespaces.ts"
import type { DaemonSet, Pod, PodState } from "./objects.ts"
import { pidsOfProgram } from "./processes.ts"

export interface Diagnosis {
  readonly code: number
  readonly text: string
  readonly report: Report
}

export class World {
  readonly paths = pathsIn(inject("cluster").folder)
  readonly api = new Api(this.paths.apiSocket)
  readonly #pid = inject("cluster").pid
  readonly #programs = inject("cluster").kubernetes
  /** As this process sees it. */
  readonly #registry = `/proc/${this.#pid}/root/var/lib/kubelet/plugins_registry`
  readonly #drivers: Array<DeployedDriver> = []

  /** Applies the DaemonSet of manifests.ts. */
  driver(name: string, options: Options = {}): Promise<DeployedDriver> {
    return this.apply(name, daemonSet(name, options))
  }

  /** Applies a DaemonSet whose driver has this name. */
  async apply(name: string, manifest: DaemonSet): Promise<DeployedDriver> {
    const driver = await DeployedDriver.open(name, this.api, this.paths, this.#registry)
    this.#drivers.push(driver)
    await driver.apply(manifest)
    return driver
  }

  /** What is in the folder that the kubelet watches, dot-names included. */
  announced(): ReadonlyArray<string> {
    return readdirSync(this.#registry).sort()
  }

  /** With an administrator's credential. Rejects when it does not exit with 0. */
  kubectl(...args: ReadonlyArray<string>): Promise<Said> {
    const config = `--kubeconfig=${this.paths.adminConfig}`
    return runInside(this.#pid, [join(this.#programs, "kubectl"), config, ...args])
  }

  /** As the kubelet runs a probe: by the runtime, in the container. */
  exec({ name }: PodState, container: string, ...command: ReadonlyArray<string>): Promise<Said> {
    return this.kubectl("exec", `--namespace=${namespace}`, name, `--container=${container}`, "--", ...command)
  }

  /** Our own program in our own container, with the flags of the pod and one more: its report in both forms, and its exit code. */
  async diagnose(pod: PodState): Promise<Diagnosis> {
    const { spec } = await this.api.get<Pod>(`/api/v1/namespaces/${namespace}/pods/${pod.name}`)
    const { args = [] } = spec.containers.find(({ name }) => name === registrarName) ?? {}
    const run = async (...more: ReadonlyArray<string>) => {
      const flags = [...args, "--mode=diagnose", ...more]
      try {
        const { stdout } = await this.exec(pod, registrarName, "/csi-node-driver-registrar", ...flags)
        return { code: 0, stdout }
      } catch (error) {
        const { stdout, stderr } = error as Said
        // kubectl exits with 1 for troubles of its own, too.
        const [, code] = /^command terminated with exit code (\d+)$/m.exec(stderr) ?? []
        if (code === undefined) throw error
        return { code: Number(code), stdout }
      }
    }
    const [text, json] = [await run(), await run("--logging-format=json")]
    return { code: text.code, text: text.stdout, report: JSON.parse(json.stdout) }
  }

  /** As the kubelet does a probe: from the network of the node. The status and the body. */
  async fetch(url: string): Promise<string> {
    const script = `fetch(${JSON.stringify(url)}).then(async (it) => console.log(it.status, await it.text()))`
    return (await runInside(this.#pid, [process.execPath, "--eval", script])).stdout.trim()
  }

  /** Ends the kubelet as a service manager does, and another takes its place; it is told by its log when it is up. */
  restartKubelet(): void {
    for (const pid of pidsOfProgram(join(this.#programs, "kubelet"), this.#pid)) process.kill(pid, "SIGTERM")
  }

  /** What the pods of this world have said until its end and how they were, and what the kubelet did about them. */
  story = () => ""

  async close(): Promise<void> {
    // The logs of pods go with them, and whether the test has failed is not known before the world has ended.
    const story = this.#drivers.map((driver) => driver.story()).join("\n")
    this.story = () => story
    const ends = await Promise.allSettled(this.#drivers.map((driver) => driver.close()))
    const faults = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []))
    if (faults.length > 0) throw new AggregateError(faults, "a driver has left something on the node")
  }
}

/** `it` with a world. */
export const it = test.extend("world", ({ onTestFailed }, { onCleanup }) => {
  const world = new World()
  onTestFailed(() => console.log(world.story()))
  onCleanup(() => world.close())
  return world
})
