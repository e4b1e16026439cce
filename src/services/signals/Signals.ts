/**
 * Signals as values. The handlers are installed before anything else: as PID 1 a signal without a handler is lost, otherwise it kills the process
 * and the socket stays. Whoever comes later is told what has arrived before.
 */

/** What the process is asked to do. */
export type Request = { readonly kind: "stop"; readonly signal: string } | { readonly kind: "dump" }

export interface Signals {
  /** The first request so far. */
  readonly pending: () => Request | undefined
  /** Hears every request, the ones that arrived before included, until the returned function is called. One listener at a time. */
  readonly listen: (listener: (request: Request) => void) => () => void
}

const stopSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const
/** Node's default for most of these is to die; upstream ignores them. A broken pipe shows as an error of the write. */
const ignoredSignals = [
  "SIGUSR1",
  "SIGUSR2",
  "SIGALRM",
  "SIGPIPE",
  "SIGIO",
  "SIGVTALRM",
  "SIGXCPU",
  "SIGXFSZ",
  "SIGPWR"
] as const

export const installSignals = (target: Pick<NodeJS.Process, "on">): Signals => {
  const arrived: Array<Request> = []
  let listener: ((request: Request) => void) | undefined
  const take = (request: Request) => {
    arrived.push(request)
    listener?.(request)
  }
  for (const signal of stopSignals) target.on(signal, () => take({ kind: "stop", signal }))
  target.on("SIGQUIT", () => take({ kind: "dump" }))
  for (const signal of ignoredSignals) target.on(signal, () => {})
  return {
    pending: () => arrived[0],
    listen: (next) => {
      listener = next
      for (const request of arrived) next(request)
      return () => {
        listener = undefined
      }
    }
  }
}
