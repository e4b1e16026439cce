/** A CSI driver with our registrar beside it, as a DaemonSet on the node: what the API server and its containers say of it. */
import { globSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

import type { Feed } from "../fakes/peers/Feed.ts"
import type { Api, Watch } from "./Api.ts"
import { nodeName, type Paths } from "./configuration.ts"
import { ContainerLog } from "./ContainerLog.ts"
import { namespace, registrarName } from "./manifests.ts"
import {
  type CsiDriver,
  type CsiNode,
  type CsiNodeState,
  csiNodeState,
  type DaemonSet,
  type Node,
  nodeIds,
  type Pod,
  type PodState,
  podState
} from "./objects.ts"
import { pidOfContainer } from "./processes.ts"
import { becomes, limitMs } from "./waits.ts"

/** The kubelet's own, of whose lines there are too many otherwise. */
const tellingFiles = / (csi_\w+|kuberuntime_container|nodeinfomanager|operation_generator|plugin_watcher|prober)\.go:/

const named = (name: string) => `fieldSelector=metadata.name=${name}`
const daemonSetsPath = `/apis/apps/v1/namespaces/${namespace}/daemonsets`

interface Watches {
  readonly csiNode: Watch<CsiNode>
  readonly node: Watch<Node>
  readonly pods: Watch<Pod>
}

export class DeployedDriver {
  readonly name: string
  /** Every state of the CSINode, from before the DaemonSet was there. */
  readonly csiNode: Feed<CsiNodeState>
  /** What the drivers call the node, as noted there. */
  readonly nodeIds: Feed<Readonly<Record<string, string>>>
  /** Each time the pods that there are; in an update there may be two. */
  readonly pods: Feed<ReadonlyArray<PodState>>
  readonly #api: Api
  readonly #paths: Paths
  readonly #registry: string
  readonly #watches: Watches
  readonly #logs: Array<ContainerLog> = []
  #removed: Promise<void> | undefined

  private constructor(name: string, api: Api, paths: Paths, registry: string, watches: Watches) {
    this.name = name
    this.#api = api
    this.#paths = paths
    this.#registry = registry
    this.#watches = watches
    this.csiNode = watches.csiNode.events.derive("CSINode", csiNodeState)
    this.nodeIds = watches.node.events.derive("node ids", ({ object }) => nodeIds(object))
    const current = new Map<string, PodState>()
    this.pods = watches.pods.events.derive(`pods of ${name}`, ({ type, object }) => {
      if (type === "DELETED") current.delete(object.metadata.uid)
      else current.set(object.metadata.uid, podState(object))
      return [...current.values()]
    })
  }

  /** Begins to watch; nothing is deployed yet. `registry` is the folder that the kubelet watches. */
  static async open(name: string, api: Api, paths: Paths, registry: string): Promise<DeployedDriver> {
    const [csiNode, node, pods] = await Promise.all([
      api.watch<CsiNode>("/apis/storage.k8s.io/v1/csinodes", named(nodeName)),
      api.watch<Node>("/api/v1/nodes", named(nodeName)),
      api.watch<Pod>(`/api/v1/namespaces/${namespace}/pods`, `labelSelector=app=${name}`)
    ])
    return new DeployedDriver(name, api, paths, registry, { csiNode, node, pods })
  }

  /** Applies the DaemonSet, or a changed one. */
  async apply(manifest: DaemonSet): Promise<void> {
    await this.#api.apply(`${daemonSetsPath}/${this.name}`, manifest)
  }

  isRegisteredIn = ({ drivers }: CsiNodeState): boolean => drivers.some(({ name }) => name === this.name)

  /** The driver's entry, as soon as the CSINode has it. */
  async registered(withinMs = limitMs): Promise<CsiDriver> {
    const { drivers } = await becomes(this.csiNode, `${this.name} is registered`, this.isRegisteredIn, withinMs)
    return drivers.find(({ name }) => name === this.name) as CsiDriver
  }

  /** The pod, as soon as there is one and no other, and it is such. */
  async pod(what: string, matches: (pod: PodState) => boolean, withinMs = limitMs): Promise<PodState> {
    const isSo = (pods: ReadonlyArray<PodState>) => pods.length === 1 && pods.every(matches)
    const [pod] = await becomes(this.pods, `${this.name}: the only pod is ${what}`, isSo, withinMs)
    return pod as PodState
  }

  /** The pod, as soon as it is ready, which our container says once the kubelet has registered the driver. */
  ready(withinMs = limitMs): Promise<PodState> {
    return this.pod("ready", (pod) => pod.ready, withinMs)
  }

  /** Whether a pod has been ready before the CSINode had the driver; compared by the API server's own count. */
  wasReadyTooEarly(): boolean {
    const registered = this.csiNode.all.find(this.isRegisteredIn)?.revision ?? Number.POSITIVE_INFINITY
    return this.pods.all.flat().some(({ ready, revision }) => ready && revision < registered)
  }

  /** How often our container has been restarted, in whichever pod that was most. */
  restarts(): number {
    return Math.max(0, ...this.pods.all.flat().map(({ containers }) => containers[registrarName]?.restarts ?? 0))
  }

  /** Ends a container by SIGKILL, as the kernel does for want of memory. */
  kill({ containers }: PodState, container: string): void {
    process.kill(pidOfContainer(containers[container]?.id ?? ""), "SIGKILL")
  }

  /** A container that has been restarted has a log of its own for each time. */
  log({ name, uid }: PodState, container: string, restarts = 0): ContainerLog {
    const file = join(this.#paths.podLogs, `${namespace}_${name}_${uid}`, container, `${restarts}.log`)
    const log = new ContainerLog(container, file)
    this.#logs.push(log)
    return log
  }

  /** For how long the CSINode was without the driver, each time after the first registration; the last may still last. */
  absencesMs(): ReadonlyArray<number> {
    const states = this.csiNode.all.slice(this.csiNode.all.findIndex(this.isRegisteredIn))
    const changes = states.filter((state, at) => {
      const before = states[at - 1]
      return before === undefined || this.isRegisteredIn(before) !== this.isRegisteredIn(state)
    })
    return changes.flatMap((change, at) =>
      this.isRegisteredIn(change) ? [] : [(changes[at + 1]?.at ?? performance.now()) - change.at]
    )
  }

  /** Deletes the DaemonSet; resolves when neither its pods nor an entry in the CSINode nor a note at the node is left. */
  remove(): Promise<void> {
    this.#removed ??= this.#remove()
    return this.#removed
  }

  async #remove(): Promise<void> {
    const { events, close } = await this.#api.watch<DaemonSet>(daemonSetsPath, named(this.name))
    await this.#api.remove(`${daemonSetsPath}/${this.name}`)
    await becomes(events, "it is gone with its pods", ({ type }) => type === "DELETED").finally(close)
    await becomes(this.csiNode, `${this.name} is not registered`, (state) => !this.isRegisteredIn(state))
    await becomes(this.nodeIds, `no node id of ${this.name}`, (ids) => !(this.name in ids))
  }

  async close(): Promise<void> {
    try {
      await this.remove()
      const left = readdirSync(this.#registry).filter((entry) => entry.startsWith(this.name))
      if (left.length > 0) throw new Error(`${left.join(", ")} is left in the kubelet's folder`)
    } finally {
      for (const { close } of Object.values(this.#watches)) close()
      await Promise.all(this.#logs.map((log) => log.close()))
    }
  }

  /** For whoever reads about a failure: the pods, what they have said, and what the kubelet did about them. */
  story(): string {
    const lines = (file: string) => readFileSync(file, "utf8").trimEnd().split("\n")
    const logs = globSync(`${this.#paths.podLogs}/${namespace}_${this.name}-*/*/*.log`)
    const kubelet = lines(join(this.#paths.logs, "kubelet.log"))
    return [
      `=== ${this.name}`,
      ...this.pods.all.map((pods) => JSON.stringify(pods)),
      `CSINode ${JSON.stringify(this.csiNode.all.at(-1))}`,
      ...logs.flatMap((file) => [`--- ${file}`, ...lines(file)]),
      "--- kubelet",
      ...kubelet.filter((line) => line.includes(this.name) && tellingFiles.test(line)).map((line) => line.slice(0, 500))
    ].join("\n")
  }
}
