/**
 * Node obeys variables of the environment before a program can object: NODE_DEBUG fills the log, NODE_V8_COVERAGE and NODE_COMPILE_CACHE write files,
 * NODE_UNIQUE_ID makes a server wait for a master for ever. A pod that has one of them set gets a second start without them, in the same process.
 * NODE_OPTIONS needs none of this: the executable was made to ignore it.
 */
import { readFileSync } from "node:fs"

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
]

/** As the process was given it: node has taken some of its variables away again by now, and acts on them all the same. */
const given = (): ReadonlyArray<string> => {
  try {
    return readFileSync("/proc/self/environ", "latin1").split("\0")
  } catch {
    return Object.keys(process.env).map((name) => `${name}=`)
  }
}

/** Does not return when there was something to obey: the program starts again. */
export const freshEnvironment = (): void => {
  const variables = given()
  if (!obeyed.some((name) => variables.some((variable) => variable.startsWith(`${name}=`)))) return
  for (const name of obeyed) delete process.env[name]
  process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], process.env)
}
