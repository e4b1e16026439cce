/**
 * Claim: what the registrar serves as profiles, Go's own pprof fetches, understands and shows, in its table and in its web view, and with the names of the
 * source once the source maps were applied; and it shows why it got none.
 */
import { execFile, spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

import { beforeAll, expect, onTestFinished, vi } from "vitest"

import { bundle } from "../../scripts/build.ts"
import { symbolize } from "../../scripts/symbolize.ts"
import { Program } from "../fakes/peers/Program.ts"
import { freePort, Http } from "./Http.ts"
import { states } from "./states.ts"
import { it as itself, preloads, underTest, type World } from "./World.ts"

const hasGo = spawnSync("go", ["version"]).status === 0
const it = itself.skipIf(!hasGo)
const title = (title: string) => (hasGo ? title : `${title} (left out: Go is not installed)`)

// Go builds the tool when it is first asked for.
let pprof = ""
beforeAll(async () => {
  if (hasGo) pprof = (await promisify(execFile)("go", ["tool", "-n", "pprof"])).stdout.trim()
})

const everything = ["-nodecount=0", "-nodefraction=0"]

/** The rows of `-top`, and the head above them. */
const top = async (world: World, source: string) => {
  const { stdout } = await promisify(execFile)(pprof, ["-top", ...everything, source], {
    env: { ...process.env, PPROF_TMPDIR: world.root },
    timeout: 20_000
  })
  const [head = "", table = ""] = stdout.split(/^ +flat +flat% +sum% +cum +cum%\n/m)
  return { head, rows: table.split("\n").filter((row) => row !== "") }
}

const open = async (world: World) => {
  const http = await Http.open()
  await states.registered(world, http.flag, "--enable-pprof")
  return { http, base: http.flag.replace("--http-endpoint=", "http://") }
}

/** Keeps the endpoint busy until `done` has settled. */
const busyUntil = async <A>(http: Http, done: Promise<A>): Promise<A> => {
  let over = false
  const ended = done.finally(() => {
    over = true
  })
  while (!over) expect(await http.get("/healthz")).toBe("200 ok")
  return ended
}

const saved = async (world: World, http: Http, path: string, name: string): Promise<string> => {
  const file = join(world.root, name)
  writeFileSync(file, await (await http.fetch(path)).bytes())
  return file
}

it(title("go tool pprof shows a CPU profile: idle time, and functions of the bundle's pieces"), async ({ world }) => {
  const { http, base } = await open(world)
  const { head, rows } = await busyUntil(http, top(world, `${base}/debug/pprof/profile?seconds=2`))

  expect(head).toMatch(/^File: csi-node-driver-registrar\nBuild ID: \S+\nType: cpu\n/)
  expect(head).toMatch(/^Duration: 2(\.\d+)?s, Total samples = [\d.]+m?s \(/m)
  expect(rows).toContainEqual(expect.stringMatching(/ \(program\)$| \(idle\)$/))
  expect(rows).toContainEqual(expect.stringMatching(/ \S+ program\.cjs:\d+:\d+$/))
})

it(title("go tool pprof shows a heap profile, by bytes"), async ({ world }) => {
  const { base } = await open(world)
  const { head, rows } = await top(world, `${base}/debug/pprof/heap?gc=1`)

  expect(head).toMatch(/^File: csi-node-driver-registrar\nBuild ID: \S+\nType: space\n/)
  expect(rows).toContainEqual(expect.stringMatching(/^ +[\d.]+k?B .* \S+ \w+\.cjs:\d+:\d+$/))
})

it(title("its functions have the names of the source by npm run symbolize"), async ({ world }) => {
  const { http } = await open(world)
  const profile = await busyUntil(http, saved(world, http, "/debug/pprof/profile?seconds=1", "minified"))
  const build = preloads ? dirname(underTest().at(-1) ?? "") : join(world.root, "dist")
  if (!preloads) await bundle(build)
  const named = join(world.root, "named")
  writeFileSync(named, await symbolize(readFileSync(profile), build))

  const { rows } = await top(world, named)
  expect(rows).toContainEqual(expect.stringMatching(/ [\w.]+ src\/[\w/]+\.ts:\d+:\d+$/))
  expect(rows).toContainEqual(expect.stringMatching(/ runLoop (?:\S+\/)?effect\/dist\/internal\/effect\.js:\d+:\d+$/))
})

it(title("its web view shows the table, the flame graph and the callers"), async ({ world }) => {
  const { http } = await open(world)
  const profile = await saved(world, http, "/debug/pprof/heap", "heap")
  const port = await freePort()
  const web = new Program("pprof", [pprof, `-http=127.0.0.1:${port}`, "-no_browser", ...everything, profile])
  onTestFinished(async () => {
    web.signal("SIGKILL")
    await web.exited
  })
  const view = new Http(port)
  await vi.waitFor(() => view.fetch("/ui/top"), 10_000)

  for (const path of ["/ui/top", "/ui/flamegraph", "/ui/peek?f=program.cjs"]) {
    const shown = await view.get(path)
    expect(shown, path).toMatch(/^200 /)
    expect(shown, path).toMatch(/\S+ program\.cjs:\d+:\d+/)
  }
})

it(title("go tool pprof shows why it gets none"), async ({ world }) => {
  const { base } = await open(world)

  await expect(top(world, `${base}/debug/pprof/profile?seconds=301`)).rejects.toThrow(
    "400 Bad Request - seconds must be a whole number from 1 to 300"
  )
})
