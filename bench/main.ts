// Figures of the bundle, interleaved with an empty program on the same node: `npm run bench`, `npm run bench -- NAME…` for some. A claim is a ratio of
// medians from one run; machines are noisy.
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { setTimeout } from "node:timers/promises"

import { anonymousMiB, World } from "./World.ts"

const runs = 11
const bundle = path.resolve(import.meta.dirname, "../dist/main.cjs")

interface Row {
  readonly unit: "ms" | "MiB"
  /** Besides an empty program, in the same turn of the same run. */
  readonly beside: boolean
  /** The ratio to the empty program, or the figure itself, that must not be passed. */
  readonly atMost: number
  readonly measure: () => Promise<number>
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now()
  await work()
  return performance.now() - from
}

const run = (...args: ReadonlyArray<string>): Promise<number> =>
  timed(
    () => new Promise((resolve) => spawn(process.execPath, args, { stdio: "ignore", env: {} }).once("exit", resolve))
  )

const inWorld = async <A>(work: (world: World) => Promise<A>): Promise<A> => {
  const world = new World()
  try {
    return await work(world)
  } finally {
    await world.close()
  }
}

const registered = (world: World) => {
  world.start()
  return world.registered()
}

const rows: Record<string, Row> = {
  version: { unit: "ms", beside: true, atMost: Number.POSITIVE_INFINITY, measure: () => run(bundle, "--version") },
  registered: {
    unit: "ms",
    beside: true,
    atMost: 5,
    measure: () =>
      inWorld(async (world) => {
        await world.driver.comes()
        return timed(() => registered(world))
      })
  },
  lateDriver: {
    unit: "ms",
    beside: false,
    atMost: 100,
    measure: () =>
      inWorld(async (world) => {
        world.start()
        await setTimeout(300 + 200 * Math.random())
        const called = world.driver.calls.next("GetPluginInfo", () => true)
        return timed(async () => {
          await world.driver.comes()
          await called
        })
      })
  },
  removedSocket: {
    unit: "ms",
    beside: false,
    atMost: 100,
    measure: () =>
      inWorld(async (world) => {
        await world.driver.comes()
        await registered(world)
        return timed(async () => {
          const back = world.placed()
          fs.rmSync(world.socket)
          await back
        })
      })
  },
  stop: {
    unit: "ms",
    beside: false,
    atMost: 100,
    measure: () =>
      inWorld(async (world) => {
        await world.driver.comes()
        await registered(world)
        return timed(() => world.stop())
      })
  },
  memory: {
    unit: "MiB",
    beside: false,
    atMost: Number.POSITIVE_INFINITY,
    measure: () =>
      inWorld(async (world) => {
        await world.driver.comes()
        await registered(world)
        await setTimeout(1_500)
        return anonymousMiB(world.pid)
      })
  }
}

const empty = path.join(fs.mkdtempSync("/tmp/bench-empty-"), "empty.cjs")
fs.writeFileSync(empty, "")

const sorted = (values: ReadonlyArray<number>) => [...values].sort((a, b) => a - b)
const median = (values: ReadonlyArray<number>) => sorted(values)[Math.floor(values.length / 2)] ?? Number.NaN
const shown = (values: ReadonlyArray<number>) =>
  `${median(values).toFixed(1)} (${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)})`

const names = process.argv.slice(2)
const unknown = names.filter((name) => !Object.hasOwn(rows, name))
if (unknown.length > 0) {
  console.error(`no such figure: ${unknown.join(", ")}; there are ${Object.keys(rows).join(", ")}`)
  process.exitCode = 2
}

console.log(`node ${process.version}, ${runs} interleaved runs, median (min–max)`)
for (const [name, { unit, beside, atMost, measure }] of Object.entries(rows)) {
  if (unknown.length > 0 || (names.length > 0 && !names.includes(name))) continue
  const figures: Array<number> = []
  const floor: Array<number> = []
  await measure()
  for (let n = 0; n < runs; n++) {
    if (beside) floor.push(await run(empty))
    figures.push(await measure())
  }
  const ratio = median(figures) / median(floor)
  const over = (beside ? ratio : median(figures)) > atMost
  const compared = beside ? `, empty ${shown(floor)}, ratio ${ratio.toFixed(2)}` : ""
  const limit = Number.isFinite(atMost) ? `, at most ${atMost}${beside ? " ×" : ` ${unit}`}` : ""
  console.log(`${name.padEnd(14)} ${shown(figures)} ${unit}${compared}${limit}${over ? "  TOO MUCH" : ""}`)
  if (over) process.exitCode = 1
}
fs.rmSync(path.dirname(empty), { recursive: true })
