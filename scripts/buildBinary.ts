// Builds the single executable: node, stripped, with the pieces of the bundle and their code caches in it.
//
// The code caches hold the functions that run in the life of a registrar, compiled, and nothing that does not. V8 throws a cache away in silence when its
// version, its flags or the source differ; the build runs the executable and fails when it says so. Equal sources give equal bytes.
//
//   node scripts/buildBinary.ts [--arch=x64|arm64] [--empty | --snapshot] [OUT]
//
// --empty builds an executable whose main does nothing, in the same way: what the bench compares with. --snapshot builds one that begins with the program's
// modules loaded, from a snapshot of V8's heap instead of pieces: two such builds differ.
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { parseArgs } from "node:util"

import { build } from "rolldown"

import { cacheOf, pieceSource, type Range, ranOf } from "./binary/Pieces.ts"
import { type Asked, live } from "./binary/life.ts"
import { nodeOf } from "./binary/nodeOf.ts"
import { trimIcu } from "./binary/trimIcu.ts"
import { bundle, type Meta } from "./build.ts"
import { debianFiles } from "./image/debian.ts"
import { type Arch, platforms, stripOf } from "./platforms.ts"
import { bundleProgram } from "./snapshot/bundle.ts"
import { needTools, ScriptError, script, tool } from "./tools.ts"

const root = resolve(import.meta.dirname, "..")
const { resolve: find } = createRequire(import.meta.url)

/**
 * Flags of the executable: a small young generation, no threads of V8 beside the main one, no inspector on SIGUSR1, no checksum of what lies in the
 * executable itself. Flags of V8 are part of the key of its code caches.
 */
const execArgv = ["--max-semi-space-size=1", "--v8-pool-size=0", "--disable-sigusr1", "--no-verify-snapshot-checksum"]
const fixedSeed = "--random-seed=42"
/** Marks in node's executable that it has something to run in it; postject flips it. */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2"
/**
 * How many lives are looked at. Odd, so that most is never half; more than one, since a slow machine takes another turn now and then. Under an emulator each takes
 * ten times as long.
 */
const livesOf = (arch: Arch): number => (arch === process.arch ? 5 : 3)

/** The command before a program of `arch`, if one is needed: an emulator, with the libraries of the image. */
export const runner = async (arch: Arch): Promise<ReadonlyArray<string>> => {
  if (arch === process.arch) return []
  const { emulator } = platforms[arch]
  needTools(emulator)
  const { root } = await debianFiles(arch)
  return [emulator, "-L", root]
}

/**
 * Builds the executable for `arch` at `out`, with its pieces taken from a build of the bundle in `folder`; an existing file is replaced at the end.
 *
 * @returns what went into the bundle
 * @throws when a tool is missing, and when node refuses a code cache
 */
export const buildBinary = async (arch: Arch, out: string): Promise<Meta> => {
  const work = await mkdtemp(join(tmpdir(), "registrar-binary-"))
  try {
    const meta = await bundle(join(work, "bundle"))
    const { pieces } = meta
    const assets = join(work, "assets")
    await mkdir(assets)
    for (const name of Object.keys(pieces)) {
      await writeFile(join(assets, name), pieceSource(await readFile(join(work, "bundle", name), "utf8")), "latin1")
    }
    await compile(arch, assets, Object.keys(pieces))
    await bundleEntry("binary/entry.ts", join(work, "entry.cjs"))
    const names = Object.keys(pieces).flatMap((name) => [name, cacheOf(name)])
    const files = Object.fromEntries(names.map((name) => [name, `assets/${name}`]))
    await seal(arch, work, { useCodeCache: true, assets: files })
    await verify([...(await runner(arch)), join(work, "executable")], askedOf(arch))
    await place(join(work, "executable"), out)
    return meta
  } finally {
    await rm(work, { recursive: true })
  }
}

/** An executable with an empty main. */
export const buildEmpty = async (arch: Arch, out: string): Promise<void> => {
  const work = await mkdtemp(join(tmpdir(), "registrar-empty-"))
  try {
    await writeFile(join(work, "entry.cjs"), "")
    await seal(arch, work, { useCodeCache: true })
    await place(join(work, "executable"), out)
  } finally {
    await rm(work, { recursive: true })
  }
}

/** An executable that begins with the program loaded. */
export const buildSnapshot = async (arch: Arch, out: string): Promise<void> => {
  const work = await mkdtemp(join(tmpdir(), "registrar-snapshot-"))
  try {
    const [assets, name] = [join(work, "assets"), "main.cjs"]
    await mkdir(assets)
    await bundleProgram(join(work, name))
    await writeFile(join(assets, name), pieceSource(await readFile(join(work, name), "utf8")), "latin1")
    await findRan(arch, assets, [name])
    await bundleEntry("snapshot/builder.ts", join(work, "entry.cjs"))
    await seal(arch, work, { useSnapshot: true })
    await verify([...(await runner(arch)), join(work, "executable")], askedOf(arch))
    await place(join(work, "executable"), out)
  } finally {
    await rm(work, { recursive: true })
  }
}

/** Leaves the code cache of each piece beside it: the piece, and of its functions those that run. */
async function compile(arch: Arch, assets: string, names: ReadonlyArray<string>): Promise<void> {
  const node = [...(await runner(arch)), (await nodeOf(arch)).file]
  const script = join(import.meta.dirname, "binary/compile.ts")
  await findRan(arch, assets, names)
  for (const name of names) {
    const [file = "", ...args] = [...node, fixedSeed, ...execArgv, script, assets, name]
    await tool(file, args, { env: {} })
  }
}

/** Leaves beside each piece which of its functions run in most lives. */
async function findRan(arch: Arch, assets: string, names: ReadonlyArray<string>): Promise<void> {
  const node = [...(await runner(arch)), (await nodeOf(arch)).file]
  const script = join(import.meta.dirname, "binary/ran.ts")
  const counts = new Map(names.map((name) => [name, new Map<string, number>()]))
  const lives = livesOf(arch)
  for (let n = 0; n < lives; n++) {
    // A piece that this life does not load, because of a flag or a mode, leaves no list.
    for (const name of names) await writeFile(join(assets, ranOf(name)), "[]")
    await live([...node, script, assets], askedOf(arch))
    for (const [name, count] of counts) {
      const ran: ReadonlyArray<Range> = JSON.parse(await readFile(join(assets, ranOf(name)), "utf8"))
      for (const range of ran) count.set(String(range), (count.get(String(range)) ?? 0) + 1)
    }
  }
  for (const [name, count] of counts) {
    const ranges = [...count]
      .filter(([, times]) => times > lives / 2)
      .map(([range]): Range => {
        const [start = 0, end = 0] = range.split(",").map(Number)
        return [start, end]
      })
      .sort(([startA, endA], [startB, endB]) => startA - startB || endB - endA)
    await writeFile(join(assets, ranOf(name)), JSON.stringify(ranges))
  }
}

const askedOf = (arch: Arch): Asked => (arch === process.arch ? "registered" : "alive")

async function bundleEntry(input: string, out: string): Promise<void> {
  await build({
    input: join(import.meta.dirname, input),
    cwd: root,
    platform: "node",
    transform: { target: "node24" },
    output: { file: out, format: "cjs", minify: true }
  })
}

/** What node is to make of its main; paths are relative to the folder of this. */
type Sealed =
  | { readonly useCodeCache: true; readonly assets?: Readonly<Record<string, string>> }
  | { readonly useSnapshot: true }

/** Makes `executable` in `work` of its entry.cjs. */
async function seal(arch: Arch, work: string, sealed: Sealed): Promise<void> {
  const executable = join(work, "executable")
  const config = {
    main: "entry.cjs",
    output: "blob",
    disableExperimentalSEAWarning: true,
    execArgv,
    execArgvExtension: "none",
    ...sealed
  }
  await writeFile(join(work, "config.json"), JSON.stringify(config))
  const node = (await nodeOf(arch)).file
  const [file = "", ...args] = [...(await runner(arch)), node, fixedSeed, "--experimental-sea-config", "config.json"]
  await tool(file, args, { cwd: work, env: {} })
  // Stripped before the injection: strip drops what it does not know.
  await copyFile(node, executable)
  await chmod(executable, 0o755)
  await tool(stripOf(arch), [executable])
  await trimIcu(executable, join(work, "icu"))
  const postject = join(dirname(find("postject")), "cli.js")
  await tool(process.execPath, [postject, executable, "NODE_SEA_BLOB", join(work, "blob"), "--sentinel-fuse", fuse])
}

/** Node says on stderr when it had to compile after all. */
async function verify(command: ReadonlyArray<string>, asked: Asked): Promise<void> {
  const said = await live(command, asked)
  if (/warning|rejected/i.test(said)) throw new Error(`the executable starts with a complaint:\n${said}`)
}

/** In one step: a running executable of the same name goes on. */
async function place(executable: string, out: string): Promise<void> {
  await mkdir(dirname(out), { recursive: true })
  await copyFile(executable, `${out}.new`)
  await rename(`${out}.new`, out)
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: {
      arch: { type: "string", default: process.arch },
      empty: { type: "boolean", default: false },
      snapshot: { type: "boolean", default: false }
    },
    allowPositionals: true
  })
  const { arch, empty, snapshot } = values
  const make = snapshot ? buildSnapshot : empty ? buildEmpty : buildBinary
  const out = resolve(positionals[0] ?? join(root, `dist/csi-node-driver-registrar${snapshot ? ".snapshot" : ""}`))
  await script(async () => {
    if (arch !== "x64" && arch !== "arm64") throw new ScriptError(`--arch=${arch}: node is to be had for x64 and arm64`)
    await make(arch, out)
    console.log(relative(process.cwd(), out))
  })
}
