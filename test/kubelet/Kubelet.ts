import type { Feed } from "../fakes/peers/Feed.ts"
import type { Program } from "../fakes/peers/Program.ts"

/** How often the plugin manager reconciles: what it does about a socket, it begins within this time. */
export const tickMs = 1_000

/** What peer/events.go tells. `at` is in milliseconds since the epoch. */
export type KubeletEvent = { readonly at: number } & (
  | { readonly event: "kubelet.started"; readonly registry: string }
  | { readonly event: "kubelet.failed"; readonly error: string }
  | ({ readonly event: "plugin.validated"; readonly versions: ReadonlyArray<string> } & Plugin)
  | ({ readonly event: "plugin.registered" } & Plugin)
  | ({ readonly event: "plugin.refused"; readonly error: string } & Plugin)
  | ({ readonly event: "plugin.deregistered" } & Plugin)
  | ({ readonly event: "node.changed" } & NodeState)
  | { readonly event: "refusals.armed"; readonly times: number }
)

export type EventOf<Name extends KubeletEvent["event"]> = KubeletEvent & { readonly event: Name }

interface Plugin {
  readonly driver: string
  readonly endpoint: string
}

/** What the API server knows: the drivers of the CSINode, and the annotation with the node's id for each driver. */
export interface NodeState {
  readonly drivers: ReadonlyArray<{
    readonly name: string
    readonly nodeID: string
    readonly topologyKeys: ReadonlyArray<string>
    readonly allocatable?: { readonly count: number }
  }>
  readonly nodeIDs: Readonly<Record<string, string>>
}

/** The kubelet peer: what its plugin manager and CSI handler do, and the state of the node they write. */
export class Kubelet {
  readonly program: Program
  readonly events: Feed<KubeletEvent>
  readonly node: Feed<NodeState>

  constructor(program: Program) {
    this.program = program
    this.events = program.stdout.derive("kubelet", (line) => JSON.parse(line) as KubeletEvent)
    this.node = this.events.derive("node", (event) => (event.event === "node.changed" ? event : undefined))
  }

  /** The next event of this name, about this driver if one is named. */
  next<Name extends KubeletEvent["event"]>(name: Name, driver?: string): Promise<EventOf<Name>> {
    const matches = (event: KubeletEvent) =>
      event.event === name && (driver === undefined || ("driver" in event && event.driver === driver))
    return this.events.next(driver === undefined ? name : `${name} ${driver}`, matches) as Promise<EventOf<Name>>
  }

  /** Every event of this name so far. */
  all<Name extends KubeletEvent["event"]>(name: Name): Array<EventOf<Name>> {
    return this.events.all.filter((event): event is EventOf<Name> => event.event === name)
  }

  /** The node as soon as its CSINode and its annotation name exactly these drivers. */
  hasDrivers(...names: Array<string>): Promise<NodeState> {
    const wanted = names.sort().join(" ")
    return this.node.becomes(
      `drivers [${wanted}]`,
      ({ drivers, nodeIDs }) =>
        drivers
          .map(({ name }) => name)
          .sort()
          .join(" ") === wanted && Object.keys(nodeIDs).sort().join(" ") === wanted
    )
  }

  /** What is deregistered while the plugin manager has had time to look at its sockets twice; normally nothing. */
  deregisteredDuringTwoTicks(): Promise<Array<KubeletEvent>> {
    return this.events.during(2.2 * tickMs, ({ event }) => event === "plugin.deregistered")
  }

  /** The next `times` registrations fail in the CSI handler with this text. */
  async refuse(times: number, text: string): Promise<void> {
    this.program.tell({ command: "refuse", times, text })
    await this.next("refusals.armed")
  }

  /** Every path that has come into the plugin manager's desired state, by its own log. */
  watchedSockets(): Set<string> {
    const added = /"Adding socket path or updating timestamp to desired state cache" path="(.*)"$/
    return new Set(this.program.stderr.all.flatMap((line) => added.exec(line)?.slice(1) ?? []))
  }

  /** The line in which the plugin manager says how a registration ended that failed. */
  failedOperation(): Promise<string> {
    return this.program.stderr.next("No retries permitted until", (line) => line.includes("No retries permitted until"))
  }
}
