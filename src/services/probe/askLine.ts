/**
 * One line from a unix socket, with node's own handles below `node:net`: loading that and its first connection cost a fifth of a whole probe (docs/decisions/0011).
 * The executable carries the node that it was tested with.
 */
import { getSystemErrorName } from "node:util"

const lineFeed = 0x0a

interface ConnectRequest {
  oncomplete: (status: number) => void
}

/** What is used of it; statuses are 0 or a negated errno, as libuv gives them. */
interface PipeHandle {
  /** `bytes` is undefined at the end, and at an error. */
  onread: (bytes?: ArrayBuffer) => void
  connect(request: ConnectRequest, path: string): number
  readStart(): number
  close(): void
}

interface PipeWrap {
  readonly Pipe: new (type: number) => PipeHandle
  readonly PipeConnectWrap: new () => ConnectRequest
  readonly constants: { readonly SOCKET: number }
}

const pipeWrap = (): PipeWrap =>
  (process as unknown as { readonly binding: (name: "pipe_wrap") => PipeWrap }).binding("pipe_wrap")

export interface Question {
  readonly path: string
  /** In milliseconds. */
  readonly withinMs: number
  /** In bytes. */
  readonly longest: number
}

const connectError = (status: number, path: string): NodeJS.ErrnoException => {
  const code = getSystemErrorName(status)
  return Object.assign(new Error(`connect ${code} ${path}`), { code })
}

/** Connects, and resolves with the first line, without its end. Rejects when there is none in time, with the system's `code` when nobody listens. */
export const askLine = ({ path, withinMs, longest }: Question): Promise<string> => {
  const { Pipe, PipeConnectWrap, constants } = pipeWrap()
  const pipe = new Pipe(constants.SOCKET)
  let timer: NodeJS.Timeout | undefined
  return new Promise<string>((resolve, reject) => {
    timer = setTimeout(() => reject(new Error("no answer")), Math.max(1, withinMs))
    let answer: Buffer = Buffer.alloc(0)
    pipe.onread = (bytes) => {
      if (bytes === undefined) return reject(new Error("hung up without an answer"))
      answer = Buffer.concat([answer, Buffer.from(bytes)])
      // The end of the connection, which takes 2 ms more, would tell nothing new.
      if (answer.at(-1) === lineFeed) resolve(answer.toString("utf8", 0, answer.length - 1))
      else if (answer.length > longest) reject(new Error("an answer without an end"))
    }
    const request = new PipeConnectWrap()
    const connected = (status: number) => {
      if (status < 0) reject(connectError(status, path))
      else pipe.readStart()
    }
    request.oncomplete = connected
    const status = pipe.connect(request, path)
    if (status < 0) connected(status)
  }).finally(() => {
    clearTimeout(timer)
    pipe.close()
  })
}
