/**
 * A control plane and one node, as processes in mount, network, PID and UTS namespaces of their own: etcd, kube-apiserver,
 * kube-controller-manager, kube-scheduler, containerd and the kubelet, with the identities of a real one (Node and RBAC
 * authorization).
 *
 * PID 1 of the namespaces is init.sh. The kernel ends everything with it, and ends it with the process that has started this,
 * so nothing runs on when a run is broken off; what is left in any case, a folder and cgroups, `stop` removes. A kubelet that
 * ends is started again, as a service manager does it.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"

import { Program } from "../fakes/peers/Program.ts"
import { Api } from "./Api.ts"
import { removeCgroupsOf } from "./cgroups.ts"
import { commandLines, type ServiceName } from "./commandLines.ts"
import { nodeAddress, nodeName, type Paths, writeConfiguration } from "./configuration.ts"
import { inside, runInside } from "./namespaces.ts"
import { isTrue, type Node } from "./objects.ts"
import { childrenOf } from "./processes.ts"

/** Ten times what it takes on two cores. */
const startTimeoutMs = 120_000
const endTimeoutMs = 5_000
const lookAgainMs = 100
const lastLines = 15

export interface ClusterParts {
  /** The folder of Kubernetes' programs. */
  readonly kubernetes: string
  readonly pause: string
  /** Names of images → OCI archives. */
  readonly images: Readonly<Record<string, string>>
}

export class ClusterStartError extends Error {
  override readonly name = "ClusterStartError"
  constructor(what: string, logs: string, options?: ErrorOptions) {
    super(`the node does not start: ${what}\n${logs}`, options)
  }
}

export class Cluster {
  readonly paths: Paths
  /** The node's PID 1, as this machine counts. */
  readonly pid: number
  readonly #commands: ReturnType<typeof commandLines>
  readonly #namespaces: Program
  readonly #services = new Set<ChildProcess>()
  #stopping = false

  private constructor(paths: Paths, kubernetes: string, namespaces: Program, pid: number) {
    this.paths = paths
    this.pid = pid
    this.#commands = commandLines(paths, kubernetes)
    this.#namespaces = namespaces
    process.once("exit", this.#abandon)
  }

  /** Resolves when the node is ready to run pods. */
  static async start({ kubernetes, pause, images }: ClusterParts): Promise<Cluster> {
    const folder = mkdtempSync("/tmp/registrar-node-")
    const paths = writeConfiguration(folder)
    const namespaces = new Program("namespaces", [
      ...["setpriv", "--pdeathsig=KILL"],
      ...["unshare", "--mount", "--net", "--pid", "--uts", "--mount-proc", "--fork", "--kill-child"],
      ...[join(import.meta.dirname, "init.sh"), folder, pause, nodeAddress, nodeName]
    ])
    try {
      await namespaces.stdout.next("ready", (line) => line === "ready", startTimeoutMs)
    } catch (cause) {
      await namespaces.kill()
      rmSync(folder, { recursive: true })
      throw new ClusterStartError("its namespaces", namespaces.stderr.all.join("\n"), { cause })
    }
    const [pid = Number.NaN] = childrenOf(namespaces.pid)
    const cluster = new Cluster(paths, kubernetes, namespaces, pid)
    try {
      await cluster.#start(images)
    } catch (cause) {
      const fault = new ClusterStartError(String(cause), cluster.#logs(), { cause })
      await cluster.stop()
      throw fault
    }
    return cluster
  }

  async #start(images: ClusterParts["images"]): Promise<void> {
    const { apiSocket, containerdSocket } = this.paths
    const api = new Api(apiSocket)
    for (const name of ["containerd", "etcd", "kube-apiserver", "kubectl-proxy"] as const) this.#service(name)
    await until("containerd listens", () => existsSync(containerdSocket))
    for (const [name, archive] of Object.entries(images)) {
      const ctr = ["ctr", `--address=${containerdSocket}`, "--namespace=k8s.io"]
      // Without a base for the names within the archive, containerd invents one that its CRI side does not find again.
      const names = [`--index-name=${name}`, `--base-name=${name.replace(/:[^:/]*$/, "")}`]
      await runInside(this.pid, [...ctr, "images", "import", ...names, archive])
    }
    await until("the API server is ready", () => api.get("/readyz").then(() => true))
    for (const name of ["kube-controller-manager", "kube-scheduler", "kubelet"] as const) this.#service(name)
    const { events, close } = await api.watch<Node>("/api/v1/nodes", `fieldSelector=metadata.name=${nodeName}`)
    await events.becomes("the node is ready", ({ object }) => isTrue(object, "Ready"), startTimeoutMs).finally(close)
  }

  /** Ends all processes, and removes all that is left of them. */
  async stop(): Promise<void> {
    process.off("exit", this.#abandon)
    this.#stopping = true
    const ended = [...this.#services].map((service) => once(service, "exit"))
    kill(this.pid)
    await Promise.all([this.#namespaces.exited, ...ended])
    this.#removeFiles()
  }

  /** The same at the end of this process, which waits for nothing: a run that is broken off skips `stop`. */
  readonly #abandon = (): void => {
    kill(this.pid)
    const deadline = performance.now() + endTimeoutMs
    const nothing = new Int32Array(new SharedArrayBuffer(4))
    while (existsSync(`/proc/${this.pid}`) && performance.now() < deadline) Atomics.wait(nothing, 0, 0, 10)
    this.#removeFiles()
  }

  #removeFiles(): void {
    const containers = join(this.paths.containerdState, "io.containerd.runtime.v2.task/k8s.io")
    if (existsSync(containers)) removeCgroupsOf(readdirSync(containers))
    rmSync(this.paths.folder, { recursive: true })
  }

  #service(name: ServiceName): void {
    const [file = "", ...args] = [...inside(this.pid), ...this.#commands[name]]
    const log = openSync(join(this.paths.logs, `${name}.log`), "a")
    // On machines other than amd64, etcd 3.4 wants to be told that this is meant.
    const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch }
    // Detached from the terminal, whose Ctrl-C is for this process; the node's programs end with PID 1.
    const child = spawn(file, args, { stdio: ["ignore", log, log], env, detached: true })
    closeSync(log)
    this.#services.add(child)
    child.once("exit", (code, signal) => {
      this.#services.delete(child)
      if (this.#stopping || !existsSync(`/proc/${this.pid}`)) return
      if (name === "kubelet") this.#service(name)
      else console.error(`${name} has ended (${signal ?? code}):\n${this.#lastLinesOf(`${name}.log`)}`)
    })
  }

  #logs(): string {
    return readdirSync(this.paths.logs)
      .map((file) => `--- ${file}\n${this.#lastLinesOf(file)}`)
      .join("\n")
  }

  #lastLinesOf(file: string): string {
    const lines = readFileSync(join(this.paths.logs, file), "utf8").trimEnd().split("\n")
    return lines
      .slice(-lastLines)
      .map((line) => line.slice(0, 400))
      .join("\n")
  }
}

/** A process that is gone already is fine. */
const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
  }
}

/** For what tells nobody when it is so far: a socket and a server that start. */
const until = async (what: string, look: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    let seen = "not yet"
    try {
      if (await look()) return
    } catch (error) {
      seen = String(error)
    }
    if (performance.now() > deadline) throw new Error(`not within ${startTimeoutMs} ms: ${what}; seen last: ${seen}`)
    await setTimeout(lookAgainMs)
  }
}
