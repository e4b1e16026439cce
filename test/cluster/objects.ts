/**
 * What this suite reads and writes of Kubernetes' objects, and the plain views of them that tests wait for. What is undefined
 * is left out when it is sent.
 */
import type { KubernetesObject, WatchEvent } from "./Api.ts"

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: number; readonly host?: string } | undefined
  readonly exec?: { readonly command: ReadonlyArray<string> } | undefined
  readonly initialDelaySeconds?: number | undefined
  readonly periodSeconds?: number | undefined
  readonly timeoutSeconds?: number | undefined
  readonly failureThreshold?: number | undefined
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly imagePullPolicy?: "Never" | undefined
  readonly command?: ReadonlyArray<string> | undefined
  readonly args?: ReadonlyArray<string> | undefined
  readonly livenessProbe?: Probe | undefined
  readonly readinessProbe?: Probe | undefined
  readonly securityContext?: object | undefined
  readonly resources?: object | undefined
  readonly volumeMounts?: ReadonlyArray<{ readonly name: string; readonly mountPath: string }> | undefined
}

export interface PodSpec {
  readonly hostNetwork?: boolean | undefined
  readonly hostPID?: boolean | undefined
  readonly containers: ReadonlyArray<Container>
  readonly volumes: ReadonlyArray<object>
}

export interface DaemonSet extends KubernetesObject {
  readonly spec: {
    readonly selector: object
    readonly updateStrategy?: object | undefined
    readonly template: {
      readonly metadata: {
        readonly labels: Readonly<Record<string, string>>
        readonly annotations?: Readonly<Record<string, string>> | undefined
      }
      readonly spec: PodSpec
    }
  }
}

export interface Node extends KubernetesObject {
  readonly status?: { readonly conditions?: ReadonlyArray<{ readonly type: string; readonly status: string }> }
}

export interface CsiDriver {
  readonly name: string
  readonly nodeID: string
  readonly topologyKeys: ReadonlyArray<string>
  readonly allocatable?: { readonly count: number }
}

export interface CsiNode extends KubernetesObject {
  readonly spec: { readonly drivers: ReadonlyArray<CsiDriver> | null }
}

export interface Pod extends KubernetesObject {
  readonly metadata: KubernetesObject["metadata"] & { readonly uid: string }
  readonly spec: PodSpec
  readonly status: {
    readonly podIP?: string
    readonly conditions?: ReadonlyArray<{ readonly type: string; readonly status: string }>
    readonly containerStatuses?: ReadonlyArray<{
      readonly name: string
      readonly containerID?: string
      readonly ready: boolean
      readonly restartCount: number
      readonly state: Readonly<Record<string, { readonly exitCode?: number }>>
    }>
  }
}

export const isTrue = (object: Node | Pod, condition: string): boolean =>
  object.status?.conditions?.some(({ type, status }) => type === condition && status === "True") === true

/** The kubelet's note at the node: what each driver calls it. */
export const nodeIds = ({ metadata }: Node): Readonly<Record<string, string>> =>
  JSON.parse(metadata.annotations?.["csi.volume.kubernetes.io/nodeid"] ?? "{}")

/** The drivers that are registered, at a moment. */
export interface CsiNodeState {
  /** On the clock of `performance.now()`. */
  readonly at: number
  /** As `PodState.revision`. */
  readonly revision: number
  readonly drivers: ReadonlyArray<CsiDriver>
}

export interface ContainerState {
  /** Without the scheme of the runtime; empty before there is one. */
  readonly id: string
  /** `waiting`, `running` or `terminated`. */
  readonly state: string
  readonly ready: boolean
  readonly restarts: number
  /** Of one that is terminated. */
  readonly exitCode: number | undefined
}

export interface PodState {
  readonly name: string
  readonly uid: string
  /** Of one counter for all objects of a cluster: what was written later has the greater one. */
  readonly revision: number
  readonly ready: boolean
  /** Empty before it has one. */
  readonly address: string
  readonly containers: Readonly<Record<string, ContainerState>>
}

const revisionOf = ({ metadata }: KubernetesObject) => Number(metadata.resourceVersion)

export const csiNodeState = ({ at, object }: WatchEvent<CsiNode>): CsiNodeState => ({
  at,
  revision: revisionOf(object),
  drivers: object.spec.drivers ?? []
})

export const podState = (pod: Pod): PodState => ({
  name: pod.metadata.name,
  uid: pod.metadata.uid,
  revision: revisionOf(pod),
  ready: isTrue(pod, "Ready"),
  address: pod.status.podIP ?? "",
  containers: Object.fromEntries(
    (pod.status.containerStatuses ?? []).map(({ name, containerID = "", ready, restartCount, state }) => [
      name,
      {
        id: containerID.replace(/^.*:\/\//, ""),
        state: Object.keys(state)[0] ?? "waiting",
        ready,
        restarts: restartCount,
        exitCode: state.terminated?.exitCode
      }
    ])
  )
})
