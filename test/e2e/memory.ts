/** Whether memory is kept: the anonymous memory of a registrar, after rounds that are all alike. */
import * as fs from "node:fs"
import { join } from "node:path"

import { imageEnvironment } from "../../scripts/image/environment.ts"
import type { Registrar } from "./Registrar.ts"

const fixture = join(import.meta.dirname, "fixtures/collectOnSignal.cjs")

/** The words before a program that is to run as in the image. */
export const inImageEnvironment: ReadonlyArray<string> = [
  "env",
  ...Object.entries(imageEnvironment).map(([name, value]) => `${name}=${value}`)
]

/** As the shipped binary runs, and collects on a signal: otherwise V8's young generation grows under load, and does not shrink again. */
export const measured: ReadonlyArray<string> = [
  ...inImageEnvironment,
  `NODE_OPTIONS=--max-semi-space-size=1 --v8-pool-size=0 --require=${fixture}`
]

export const rssAnonMiB = (pid: number): number =>
  Number(/^RssAnon:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024

/** In MiB, once all garbage is gone. Of a registrar that was started with `measured`. */
export const anonymousMiB = async ({ program }: Registrar): Promise<number> => {
  process.kill(program.pid, "SIGWINCH")
  await program.stderr.next("garbage collected", (line) => line === "garbage collected")
  return rssAnonMiB(program.pid)
}

const median = (values: ReadonlyArray<number>) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/**
 * What a round has kept, on average between the earlier and the later ones: what is kept is kept by every round, while pages come and go with malloc's
 * holes, by a MiB or two in either direction.
 */
export const keptByEach = (afterRound: ReadonlyArray<number>): number => {
  const half = afterRound.length >> 1
  const apart = afterRound.length - half
  return (median(afterRound.slice(-half)) - median(afterRound.slice(0, half))) / apart
}
