/**
 * What of a container bears on the figures: a cgroup with its limits, and a PID namespace with its own `/proc`, in which probes run beside the registrar.
 * Whatever it takes to get there (a shell, unshare, nsenter) is spent outside of the limits; it adds some 3 ms to each time.
 */
import { atRest, type Command, Process } from "./Process.ts"
import { Cgroup, type Limits } from "./Cgroup.ts"

/** Moves itself into the cgroup's folders, which are its first words up to `--`, and becomes the program. */
const enter = `while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"`

export class Container {
  readonly cgroup: Cgroup
  readonly #processes: Array<Process> = []

  constructor(limits: Limits = {}) {
    this.cgroup = new Cgroup(limits)
  }

  /** The pid of its first process, seen from here. */
  get pid(): number {
    const [pid] = this.cgroup.pids
    if (pid === undefined) throw new Error("the container is empty")
    return pid
  }

  /** Its first process, which ends when this is ended. */
  start(command: Command): Process {
    return this.#run(command, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
  }

  /** Another process in it, as an exec probe is. */
  exec(command: Command): Process {
    return this.#run(command, "nsenter", "--target", String(this.pid), "--pid", "--mount")
  }

  async atRest(): Promise<void> {
    await atRest(this.pid)
  }

  async close(): Promise<void> {
    for (const process of this.#processes) await process.end("SIGKILL").catch(() => {})
    await this.cgroup.close()
  }

  #run({ file, args, environment }: Command, tool: string, ...options: ReadonlyArray<string>): Process {
    const shell = ["/bin/sh", "-c", enter, "sh", ...this.cgroup.folders, "--", file, ...args]
    const process = new Process({ file: tool, args: [...options, ...shell], environment })
    this.#processes.push(process)
    return process
  }
}

export const inContainer = async <A>(limits: Limits, work: (container: Container) => Promise<A>): Promise<A> => {
  const container = new Container(limits)
  try {
    return await work(container)
  } finally {
    await container.close()
  }
}
