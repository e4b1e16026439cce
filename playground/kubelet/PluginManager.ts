/**
 * One life of a kubelet's plugin manager, from start to stop: it compares the sockets it wants registered with those that are, once a tick, and
 * registers or unregisters what differs. All it knows is in memory.
 */
import type { PluginInfo } from "../../proto/generated/pluginregistration.ts"
import type { KubeletEvent } from "./events.ts"
import { type PluginWatcher, watchPlugins } from "./pluginWatcher.ts"
import { callFault, dial, nodeGetInfo, type RegistrationConnection } from "./registrationCalls.ts"
import { validate } from "./validate.ts"

const firstBackoffMs = 500
const backoffCeilingMs = 122_000

export interface PluginManagerSettings {
  readonly folder: string
  /** The rest between two passes. */
  readonly tickMs: number
  readonly tell: (event: KubeletEvent) => void
  /** The API server's: drivers of this node, and the node's id for each. */
  readonly csiNode: Map<string, string>
  /** Why the next registration is to fail, if it is. */
  readonly takeRefusal: () => string | undefined
}

interface Plugin {
  readonly identity: string
  readonly driver: string
}

interface Backoff {
  readonly lengthMs: number
  readonly until: number
}

export class PluginManager {
  readonly #settings: PluginManagerSettings
  readonly #watcher: PluginWatcher
  readonly #stopped = new AbortController()
  /** The kubelet's actual state of the world: what is registered, by socket. */
  readonly #actual = new Map<string, Plugin>()
  readonly #busy = new Set<string>()
  readonly #backoffs = new Map<string, Backoff>()
  #timer: NodeJS.Timeout | undefined

  /** The first pass, over the sockets that are there, is immediate. */
  constructor(settings: PluginManagerSettings) {
    this.#settings = settings
    this.#watcher = watchPlugins(settings.folder, (path, there) => {
      this.#tell({ type: there ? "socketSeen" : "socketGone", path })
    })
    this.#reconcile()
  }

  /** Cuts every connection. Nobody is unregistered, as with a real one. */
  stop(): void {
    this.#stopped.abort()
    clearTimeout(this.#timer)
    this.#watcher.close()
  }

  #tell(event: KubeletEvent): void {
    if (!this.#stopped.signal.aborted) this.#settings.tell(event)
  }

  /** First what must go, then what must come; so a socket that was replaced is registered one pass after its predecessor went. */
  #reconcile(): void {
    const { desired } = this.#watcher
    for (const [path, { identity, driver }] of this.#actual) {
      if (desired.get(path) !== identity) this.#operate(path, async () => this.#deregister(path, driver))
    }
    for (const [path, identity] of desired) {
      if (this.#actual.get(path)?.identity !== identity) this.#operate(path, () => this.#register(path, identity))
    }
    this.#timer = setTimeout(() => this.#reconcile(), this.#settings.tickMs)
  }

  /** One operation at a time for a path, none while it backs off, and none that ends within its pass, however short it is. */
  #operate(path: string, operation: () => Promise<void>): void {
    const backoff = this.#backoffs.get(path)
    if (this.#busy.has(path) || (backoff !== undefined && backoff.until > Date.now())) return
    this.#busy.add(path)
    const succeeded = () => void this.#backoffs.delete(path)
    const failed = () => {
      const lengthMs = backoff === undefined ? firstBackoffMs : Math.min(backoffCeilingMs, 2 * backoff.lengthMs)
      this.#backoffs.set(path, { lengthMs, until: Date.now() + lengthMs })
    }
    setImmediate(() => {
      if (this.#stopped.signal.aborted) return
      void operation()
        .then(succeeded, failed)
        .finally(() => this.#busy.delete(path))
    })
  }

  #deregister(path: string, driver: string): void {
    this.#actual.delete(path)
    this.#settings.csiNode.delete(driver)
    this.#tell({ type: "deregistered", path, driver })
  }

  async #register(path: string, identity: string): Promise<void> {
    const connection = await this.#attempt(path, () => dial(path, this.#stopped.signal))
    try {
      const info = await this.#attempt(path, connection.getInfo)
      this.#tell({ type: "asked", path, info })
      const elsewhere = [...this.#actual].filter(([other]) => other !== path).map(([, { driver }]) => driver)
      const fault = validate(path, info, new Set(elsewhere))
      if (fault !== undefined) return await this.#refuse(connection, path, info.name, fault)
      this.#actual.set(path, { identity, driver: info.name })
      await this.#admit(connection, path, info)
    } finally {
      connection.close()
    }
  }

  /** Asks the driver itself, enters it into the CSINode, and tells the registrar how that went. */
  async #admit(connection: RegistrationConnection, path: string, { name, endpoint }: PluginInfo): Promise<void> {
    const answer = await this.#nodeId(endpoint === "" ? path : endpoint)
    if (this.#stopped.signal.aborted) return
    if ("fault" in answer) {
      this.#actual.delete(path)
      this.#settings.csiNode.delete(name)
      return await this.#refuse(connection, path, name, `plugin registration failed with err: ${answer.fault}`)
    }
    this.#settings.csiNode.set(name, answer.nodeId)
    try {
      await this.#attempt(path, () => connection.notify({ plugin_registered: true, error: "" }))
    } catch (error) {
      if (!this.#stopped.signal.aborted) this.#deregister(path, name)
      throw error
    }
    this.#tell({ type: "registered", path, driver: name, nodeId: answer.nodeId })
  }

  async #nodeId(endpoint: string): Promise<{ readonly nodeId: string } | { readonly fault: string }> {
    const refusal = this.#settings.takeRefusal()
    if (refusal !== undefined) return { fault: refusal }
    try {
      const { node_id } = await nodeGetInfo(endpoint, this.#stopped.signal)
      return node_id === ""
        ? { fault: "error adding CSI driver node info: driverNodeID must not be empty" }
        : { nodeId: node_id }
    } catch (error) {
      return { fault: callFault(error) }
    }
  }

  /** A step of which the registrar learns nothing when it fails. */
  async #attempt<A>(path: string, step: () => Promise<A>): Promise<A> {
    try {
      return await step()
    } catch (error) {
      this.#tell({ type: "failed", path, error: callFault(error) })
      throw error
    }
  }

  /** Tells the registrar, and fails as the whole operation does. */
  async #refuse(connection: RegistrationConnection, path: string, driver: string, why: string): Promise<never> {
    const error = `RegisterPlugin error -- ${why}`
    const delivered = await connection.notify({ plugin_registered: false, error }).then(
      () => true,
      () => false
    )
    this.#tell({ type: "refused", path, driver, error, delivered })
    throw new Error(error)
  }
}
