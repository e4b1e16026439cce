/** What is measured, and what it may be: the rows of the table. */
import type { Statistic } from "./statistics.ts"

export interface Limit {
  /** A `must` that is not held fails `--check`; an `aim` is where we want to be. */
  readonly kind: "must" | "aim"
  readonly of: Statistic
  readonly atMost: number
  /** Against the median of the empty program in the same run, instead of in the figure's unit. */
  readonly timesEmpty?: true
}

export interface Figure {
  readonly unit: "ms" | "MiB" | "MB" | "% of a core" | "kills"
  /** Of what, for somebody who has not seen the code. */
  readonly what: string
  readonly limits: ReadonlyArray<Limit>
}

const timesEmpty = (must: number, aim: number): ReadonlyArray<Limit> => [
  { kind: "must", of: "median", atMost: must, timesEmpty: true },
  { kind: "aim", of: "median", atMost: aim, timesEmpty: true }
]
const atMost = (of: Statistic, must: number, aim: number, aimOf = of): ReadonlyArray<Limit> => [
  { kind: "must", of, atMost: must },
  { kind: "aim", of: aimOf, atMost: aim }
]

const define = <Name extends string>(figures: Readonly<Record<Name, Figure>>) => figures

export const figures = define({
  registered: {
    unit: "ms",
    what: "exec → registered, with a kubelet that calls at once; beside the whole run of the empty program",
    limits: timesEmpty(4.5, 3)
  },
  cpu: {
    unit: "ms",
    what: "CPU time of all threads until registered; beside that of the empty program",
    limits: timesEmpty(5, 3.2)
  },
  version: { unit: "ms", what: "`--version`, exec → exit", limits: timesEmpty(1.3, 1.15) },
  help: { unit: "ms", what: "`--help`, exec → exit", limits: timesEmpty(1.3, 1.15) },
  probe: { unit: "ms", what: "probe mode that asks a running registrar, exec → exit", limits: timesEmpty(1.3, 1.15) },
  memory: {
    unit: "MiB",
    what: "anonymous memory, registered and idle for 20 s, HTTP on",
    limits: atMost("median", 16, 12)
  },
  memoryAfterChecks: {
    unit: "MiB",
    what: "growth of the same by 10,000 health checks; beside an empty `node:http` server",
    limits: atMost("median", 6, 3)
  },
  healthCheck: {
    unit: "ms",
    what: "CPU time of one health check (`GET /healthz`, a connection each, back to back); beside an empty `node:http` server",
    limits: atMost("median", 1, 0.4)
  },
  scrape: {
    unit: "ms",
    what: "CPU time of one scrape of `/metrics`, back to back on one connection",
    limits: atMost("median", 1, 0.5)
  },
  "limit32.registered": {
    unit: "ms",
    what: "exec → registered in 32 MiB with a cold page cache; the registrar whose probes and kills follow",
    limits: []
  },
  "limit32.probe": {
    unit: "ms",
    what: "exec → exit of an exec probe beside it in the same 32 MiB, every 5 s for 2 min",
    limits: [{ kind: "aim", of: "worst", atMost: 500 }]
  },
  "limit32.kills": {
    unit: "kills",
    what: "processes killed for want of memory in these 2 min",
    limits: [{ kind: "must", of: "median", atMost: 0 }]
  },
  "cpu100m.registered": {
    unit: "ms",
    what: "exec → registered with a CPU quota of 100m; beside the whole run of the empty program there",
    limits: timesEmpty(7.4, 4.4)
  },
  "cpu100m.probe": {
    unit: "ms",
    what: "exec → exit of an exec probe beside it in the same 100m; beside the same",
    limits: timesEmpty(3.3, 1.8)
  },
  "six.workingSet": {
    unit: "MiB",
    what: "six registrars of six drivers, a cgroup each, the executable cold before: sum of the working sets (what `kubectl top` shows)",
    limits: []
  },
  "six.anonymous": { unit: "MiB", what: "the anonymous memory in that", limits: [] },
  getInfo: {
    unit: "ms",
    what: "`GetInfo` on a connection of its own at 100m, four a second for 4 min, beside as many health checks whose garbage brings full collections",
    limits: atMost("p99", 200, 100)
  },
  "getInfo.observed": {
    unit: "ms",
    what: "the same while a CPU profile is taken from nearly all of it, and Prometheus scrapes every 15 s",
    limits: atMost("p99", 200, 100)
  },
  lateDriver: {
    unit: "ms",
    what: "the driver's socket appears late → `GetPluginInfo` at the driver",
    limits: atMost("worst", 100, 15, "median")
  },
  healed: {
    unit: "ms",
    what: "the registration socket is removed by others → a new one is in place",
    limits: atMost("worst", 100, 20, "median")
  },
  stop: { unit: "ms", what: "SIGTERM → gone, and the socket with it", limits: atMost("worst", 100, 20, "median") },
  "image.amd64": { unit: "MB", what: "the image's layers, as pulled (gzip)", limits: atMost("median", 46, 33) },
  "image.arm64": { unit: "MB", what: "the same for arm64", limits: atMost("median", 46, 33) },
  idle: {
    unit: "% of a core",
    what: "CPU time of a registered registrar to which nothing happens, HTTP on, over the minutes that are said above",
    limits: [{ kind: "must", of: "median", atMost: 0.02 }]
  }
})

export type FigureName = keyof typeof figures

export const figureNames = Object.keys(figures) as ReadonlyArray<FigureName>

/** The figures that a word of the command line means: one, or all of a subject (`limit32`). Empty for a wrong word. */
export const figuresOf = (word: string): ReadonlyArray<FigureName> =>
  figureNames.filter((name) => name === word || name.startsWith(`${word}.`))
