/**
 * The part of a kubelet that a registrar meets, on a real folder, with buttons. It behaves as Kubernetes 1.36 does, where a driver that was refused
 * is asked again after a back-off. It may be stopped and started any number of times: a new one knows nothing but what lies in the folder, and the
 * CSINode, which is the API server's, stays.
 */
import { Journal } from "../Journal.ts"
import { describe, type KubeletEvent } from "./events.ts"
import { PluginManager } from "./PluginManager.ts"

export interface KubeletOptions {
  /** The rest between two looks at the sockets; a kubelet's is 1 s. */
  readonly tickMs: number
}

export class Kubelet {
  readonly folder: string
  readonly tickMs: number
  readonly events = new Journal(describe)
  /** Drivers of this node, and the node's id for each. */
  readonly csiNode: ReadonlyMap<string, string>
  readonly #refusals: Array<string> = []
  readonly #begin: () => PluginManager
  #manager: PluginManager | undefined

  constructor(folder: string, { tickMs }: KubeletOptions) {
    this.folder = folder
    this.tickMs = tickMs
    const csiNode = new Map<string, string>()
    this.csiNode = csiNode
    const tell = (event: KubeletEvent) => this.events.add(event)
    this.#begin = () => new PluginManager({ folder, tickMs, tell, csiNode, takeRefusal: () => this.#refusals.shift() })
  }

  start(): void {
    if (this.#manager !== undefined) return
    this.events.add({ type: "started" })
    this.#manager = this.#begin()
  }

  stop(): void {
    if (this.#manager === undefined) return
    this.#manager.stop()
    this.#manager = undefined
    this.events.add({ type: "stopped" })
  }

  restart(): void {
    this.stop()
    this.start()
  }

  /** The next registration is refused, as if NodeGetInfo had failed. */
  refuseOnce(cause: string): void {
    this.#refusals.push(cause)
  }
}
