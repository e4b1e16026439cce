/**
 * Claim: the single executable is the same program as the bundle, whatever Node would let a pod's environment change; and it is the same file whenever it is
 * built. The process suite runs against it as well (`npm run test:binary`); here is what only a single executable can get wrong.
 */
import * as fs from "node:fs"
import { join, resolve } from "node:path"

import { describe, expect, vi } from "vitest"

import { buildBinary } from "../../scripts/buildBinary.ts"
import { Http } from "../e2e/Http.ts"
import { listeningPorts } from "../e2e/listeningPorts.ts"
import { inImageEnvironment, rssAnonMiB } from "../e2e/memory.ts"
import { said } from "../e2e/Registrar.ts"
import { states } from "../e2e/states.ts"
import { it, underTest, type World } from "../e2e/World.ts"

const [binary = ""] = underTest()

/** What it says in a life to which nothing happens, without times, pid and paths of the world. */
const life = async (world: World): Promise<ReadonlyArray<string>> => {
  const http = await Http.open()
  const driver = await world.driver()
  const registrar = await world.registered(http.flag)
  expect(await http.get("/healthz")).toBe("200 ok")
  const { code } = await registrar.end()
  expect(code).toBe(0)
  driver.goes()
  const { stderr, stdout, pid } = registrar.program
  return [...stdout.all, ...stderr.all].map((line) =>
    line
      .replace(/^([IE])\d{4} [\d:.]+ +\d+ /, "$1 ")
      .replaceAll(world.root, "ROOT")
      .replaceAll(http.flag.replace("--http-endpoint=", ""), "HTTP")
      .replaceAll(String(pid), "PID")
      .replace(/took="[^"]*"/g, "took")
  )
}

/** All that Node's executable calls by such a name; some are no variables, which does no harm. */
const names = [
  ...new Set(fs.readFileSync(binary, "latin1").match(/(?<![A-Z_])NODE_[A-Z0-9_]*[A-Z0-9](?![A-Z_])/g) ?? [])
]
/**
 * With these Node ends before any program of it runs: with the first whatever its value, with the second if it is no number. They are for Node's own
 * children, and no pod has a reason to set them.
 */
const refusedByNode = ["NODE_REPL_EXTERNAL_MODULE", "NODE_CHANNEL_FD"]

/** What whoever runs the tests has set could do a variable's work for it. */
const unset = Object.keys(process.env)
  .filter((name) => name.startsWith("NODE_"))
  .map((name) => `--unset=${name}`)

/** Node makes the folders for what it would write before we can object, and writes the coverage of that moment. Nothing else may be there. */
const filesBelow = (folder: string) =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !/^coverage-\d+-\d+-\d+\.json$/.test(entry.name))

describe("variables of the environment change nothing", () => {
  it("there are some to try", () => {
    expect(names).toEqual(
      expect.arrayContaining(["NODE_DEBUG", "NODE_OPTIONS", "NODE_V8_COVERAGE", "NODE_COMPILE_CACHE", ...refusedByNode])
    )
  })

  const settings: Record<string, ReadonlyArray<string>> = {
    "each of Node's names is 1": names.map((name) => `${name}=1`),
    "each is *": names.map((name) => `${name}=*`),
    "each is a path that is not there": names.map((name) => `${name}=/nowhere/at-all`),
    "each is a path to be made": names.map((name) => `${name}=here`),
    "each is empty": names.map((name) => `${name}=`),
    "a parent's channel": ["NODE_CHANNEL_FD=3"],
    "a worker of a cluster": ["NODE_UNIQUE_ID=1"],
    "a debugger is asked for": ["NODE_OPTIONS=--inspect=0"],
    "a flag that does not exist": ["NODE_OPTIONS=--no-such-flag"],
    "a module to begin with": ["NODE_OPTIONS=--require=/nowhere"],
    "hardly any heap": ["NODE_OPTIONS=--max-old-space-size=1"]
  }
  it.for(Object.entries(settings))("%s", async ([, variables], { world }) => {
    const plain = await life(world)
    const folder = join(world.root, "cwd")
    fs.mkdirSync(folder)
    const set = variables.filter(
      (variable) => variables.length === 1 || !refusedByNode.some((name) => variable.startsWith(name))
    )
    world.wrapper = ["env", ...unset, `--chdir=${folder}`, ...set]

    expect(await life(world)).toEqual(plain)
    expect(filesBelow(folder)).toEqual([])
    expect(world.entries()).toEqual([])
  })
})

const mostMiB = 16
const crowd = 2_000
const mostKeptMiB = 6

it("SIGUSR1 opens no port", async ({ world }) => {
  const registrar = await states.listening(world)
  process.kill(registrar.program.pid, "SIGUSR1")
  await world.accepts(registrar)

  expect(listeningPorts(registrar.program.pid)).toEqual([])
  expect((await registrar.end()).code).toBe(0)
})

it(`keeps no more than ${mostMiB} MiB of anonymous memory once its start is over, and little of a crowd`, {
  timeout: 120_000
}, async ({ world }) => {
  world.wrapper = inImageEnvironment
  const http = await Http.open()
  const { program } = await states.registered(world, http.flag)
  expect(await http.get("/readyz")).toBe("200 ok")
  const comesDownTo = (MiB: number) =>
    vi.waitFor(() => expect(rssAnonMiB(program.pid)).toBeLessThanOrEqual(MiB), { timeout: 40_000, interval: 500 })
  await comesDownTo(mostMiB)

  for (let n = 0; n < crowd; n++) expect(await http.get("/healthz")).toBe("200 ok")
  await comesDownTo(mostMiB + mostKeptMiB)
})

it("its code caches are taken, those of what a flag loads too: nobody complains", async ({ world }) => {
  const http = await Http.open()
  const registrar = await states.registered(world, http.flag, "--enable-inspector")
  for (const path of ["/metrics", "/debug/machine", "/debug/machine/events.ndjson"]) {
    expect((await http.fetch(path)).status).toBe(200)
  }
  await registrar.end()

  expect(registrar.lines.filter((line) => /warning|rejected/i.test(line))).toEqual([])
  expect(registrar.messages[0]).toBe(said.version)
})

it("built once more it is the same file", { timeout: 120_000 }, async ({ world }) => {
  const again = join(world.root, "again")
  await buildBinary(process.arch === "arm64" ? "arm64" : "x64", again)

  expect(fs.readFileSync(again).equals(fs.readFileSync(resolve(binary)))).toBe(true)
})
