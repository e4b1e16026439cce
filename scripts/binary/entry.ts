/**
 * Main of the single executable: the pieces of the bundle lie in it as assets, each with its code cache.
 *
 * Node obeys variables of the environment before a program can object: NODE_DEBUG fills the log, NODE_V8_COVERAGE and NODE_COMPILE_CACHE write files,
 * NODE_UNIQUE_ID makes a server wait for a master for ever. A pod that has one of them set gets a second start without them, in the same process.
 * NODE_OPTIONS needs none of this: the executable was made to ignore it.
 */
import { getRawAsset } from "node:sea"

import { cacheOf, pieces } from "./Pieces.ts"

const obeyed = [
  "NODE_CHANNEL_FD",
  "NODE_COMPILE_CACHE",
  "NODE_DEBUG",
  "NODE_DEBUG_NATIVE",
  "NODE_EXTRA_CA_CERTS",
  "NODE_ICU_DATA",
  "NODE_PENDING_DEPRECATION",
  "NODE_REDIRECT_WARNINGS",
  "NODE_TEST_CONTEXT",
  "NODE_TLS_REJECT_UNAUTHORIZED",
  "NODE_UNIQUE_ID",
  "NODE_USE_ENV_PROXY",
  "NODE_USE_SYSTEM_CA",
  "NODE_V8_COVERAGE"
].filter((name) => process.env[name] !== undefined)
if (obeyed.length > 0) {
  for (const name of obeyed) delete process.env[name]
  process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], process.env)
}

pieces(
  (name) => ({
    source: Buffer.from(getRawAsset(name)).toString("latin1"),
    codeCache: Buffer.from(getRawAsset(cacheOf(name)))
  }),
  require,
  (name, { cachedDataRejected }) => {
    // As node itself says it of the main script. The build takes it for a failure.
    if (cachedDataRejected === true) process.emitWarning(`Code cache data rejected: ${name}`)
  }
)("./main.cjs")
