/** A registrar of a case: a process, what it has said, and how it ends. */
import type { Exit, Program } from "../fakes/peers/Program.ts"

/** The lines that cases wait for. */
export const said = {
  version: "Version",
  waiting: "Waiting for the CSI driver",
  started: "Registration Server started",
  asked: "Received GetInfo call",
  registered: "Registered with the kubelet",
  refused: "Registration was refused by the kubelet, announcing again",
  removed: "Registration socket was removed, putting it back",
  displaced: "Another registrar holds the registration socket, standing by until it leaves",
  stopping: "Stopping",
  transition: "Transition"
}

const klogLine = /^([IE])\d{4} \d\d:\d\d:\d\d\.\d{6} {1,7}(\d+) ([\w./]+:\d+)\] "((?:[^"\\]|\\.)*)"/

export interface Ending extends Exit {
  /** From the first signal until the process was gone. */
  readonly tookMs: number
}

export class Registrar {
  readonly program: Program

  constructor(program: Program) {
    this.program = program
  }

  get lines(): ReadonlyArray<string> {
    return this.program.stderr.all
  }

  /** The messages of its lines, in order. Fails for a line that is not klog's. */
  get messages(): ReadonlyArray<string> {
    return this.lines.map((line) => {
      const message = klogLine.exec(line)?.[4]
      if (message === undefined) throw new Error(`not a line of klog: ${line}`)
      return message
    })
  }

  get lastLine(): string {
    return this.lines.at(-1) ?? ""
  }

  /** Waits for the next line whose message begins so, in klog's text or in JSON; lines before it are passed over for good. */
  says(message: string): Promise<string> {
    const begins = [`] "${message}`, `"msg":"${message}`]
    return this.program.stderr.next(message, (line) => begins.some((begin) => line.includes(begin)))
  }

  /** Sends a signal, more than once if asked, and waits for the end. `pid` is another process when the program is wrapped. */
  async end(signal: NodeJS.Signals = "SIGTERM", times = 1, pid = this.program.pid): Promise<Ending> {
    const from = performance.timeOrigin + performance.now()
    for (let sent = 0; sent < times; sent++) process.kill(pid, signal)
    const exit = await this.program.exited
    return { ...exit, tookMs: exit.at - from }
  }
}
