/** Which paths `--metrics-path` may name: those that a request reaches as they are written, and that answer nothing else. */

/** Held against the routes by a test. */
const health = ["/healthz", "/livez", "/readyz"]
/** With all below them. */
const diagnostics = ["/debug/pprof", "/debug/machine"]
/** What services/http/goMux.ts looks up at most. */
const maxBytes = 256

/** Why a path cannot be that of the metrics; undefined if it can. */
export function metricsPathFault(path: string): string | undefined {
  if (!path.startsWith("/")) return "must begin with a slash, such as /metrics"
  if (/[^\w.~!$&'()*+,;=:@/-]/.test(path))
    return "must be a path as in a URL, such as /metrics, without escapes and query"
  if (/\/\/|\/\.{1,2}(?:\/|$)/.test(path)) return "must be a path without //, /. and /.., such as /metrics"
  if (path.length > maxBytes) return `must have at most ${maxBytes} characters`
  const isTaken = health.includes(path) || diagnostics.some((each) => `${path}/`.startsWith(`${each}/`))
  return isTaken ? "is the path of another endpoint; choose one such as /metrics" : undefined
}
