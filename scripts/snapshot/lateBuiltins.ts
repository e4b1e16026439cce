// Modules of node that cannot lie in a snapshot, as of node 24.22: its builder ends with "global handle not serialized" for http, https and http2, and with
// "Unknown external reference" for tls. The program finds them in its bundle as modules whose exports fetch the real one when they are first used. That
// is enough for functions and classes that are called; a class that extends one of theirs would have to be made later than the snapshot.
import { constants } from "node:http2"

import type { Plugin } from "rolldown"

const late = new Set(["http", "http2", "https", "inspector", "tls"])
const prefix = "\0late-builtin:"

/** What grpc-js reads while it loads: the same in every node of one version. */
const early: Readonly<Record<string, Readonly<Record<string, unknown>>>> = { http2: { constants } }

export const lateBuiltins: Plugin = {
  name: "late-builtins",
  resolveId(id) {
    const name = id.replace(/^node:/, "")
    return late.has(name) ? { id: prefix + name } : null
  },
  load(id) {
    if (!id.startsWith(prefix)) return null
    const name = id.slice(prefix.length)
    const known = early[name] ?? {}
    // Whoever imports CommonJS takes the names of the exports at once, and a value when it is used.
    const names = Object.keys(process.getBuiltinModule(name) ?? {}).filter((key) => !(key in known))
    return `
      let builtin
      for (const name of ${JSON.stringify(names)}) {
        Object.defineProperty(exports, name, {
          enumerable: true,
          get: () => (builtin ??= process.getBuiltinModule(${JSON.stringify(name)}))[name]
        })
      }
      Object.assign(exports, ${JSON.stringify(known)})`
  }
}
