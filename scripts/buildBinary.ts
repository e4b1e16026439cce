// Builds the single executable: node, stripped, with the pieces of the bundle and their code caches in it.
//
// The code caches are taken from a run of the whole life of a registrar, so they hold what a start needs, compiled, and nothing that it does not. V8
// throws a cache away in silence when its version, its flags or the source differ; the build runs the executable and fails when it says so.
// Equal sources give equal bytes: V8 has a fixed seed, and a warm-up counts only when a second one has left the same.
//
//   node scripts/buildBinary.ts [--arch=x64|arm64] [--empty] [OUT]
//
// --empty builds an executable whose main does nothing, in the same way: what the bench compares with.
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { parseArgs, promisify } from "node:util"

import { build } from "rolldown"

import { cacheOf, pieceSource } from "./binary/Pieces.ts"
import { live } from "./binary/life.ts"
import { bundle } from "./build.ts"

const run = promisify(execFile)
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
const warmUpsAtMost = 6

export type Arch = "x64" | "arm64"

interface Platform {
  readonly triplet: string
  /** What runs its programs on another machine. */
  readonly emulator: string
}
const platforms: Readonly<Record<Arch, Platform>> = {
  x64: { triplet: "x86_64-linux-gnu", emulator: "qemu-x86_64-static" },
  arm64: { triplet: "aarch64-linux-gnu", emulator: "qemu-aarch64-static" }
}

/** The command before a program of `arch`, if one is needed. */
export const runner = (arch: Arch): ReadonlyArray<string> => {
  if (arch === process.arch) return []
  const { emulator, triplet } = platforms[arch]
  return [emulator, "-L", `/usr/${triplet}`]
}

/**
 * Builds the executable for `arch` at `out`, with its pieces taken from a build of the bundle in `folder`; an existing file is replaced at the end.
 *
 * @throws when a tool is missing, when warm-ups never agree, and when node refuses a code cache
 */
export const buildBinary = async (arch: Arch, out: string): Promise<void> => {
  const work = await mkdtemp(join(tmpdir(), "registrar-binary-"))
  try {
    const { pieces } = await bundle(join(work, "bundle"))
    const assets = join(work, "assets")
    await mkdir(assets)
    for (const name of Object.keys(pieces)) {
      await writeFile(join(assets, name), pieceSource(await readFile(join(work, "bundle", name), "utf8")), "latin1")
    }
    await warmUp(arch, assets, Object.keys(pieces))
    await bundleEntry(join(work, "entry.cjs"))
    const names = Object.keys(pieces).flatMap((name) => [name, cacheOf(name)])
    await seal(arch, work, Object.fromEntries(names.map((name) => [name, `assets/${name}`])))
    await verify([...runner(arch), join(work, "executable")])
    await place(join(work, "executable"), out)
  } finally {
    await rm(work, { recursive: true })
  }
}

/** An executable with an empty main. */
export const buildEmpty = async (arch: Arch, out: string): Promise<void> => {
  const work = await mkdtemp(join(tmpdir(), "registrar-empty-"))
  try {
    await writeFile(join(work, "entry.cjs"), "")
    await seal(arch, work, {})
    await place(join(work, "executable"), out)
  } finally {
    await rm(work, { recursive: true })
  }
}

/** The node of `arch` that package.json pins. */
function nodeOf(arch: Arch): string {
  return find(`node-linux-${arch}/bin/node`)
}

/**
 * Leaves the code cache of each piece beside it. What a run compiles could depend on how fast the machine is, so the first cache that two runs agree on is taken.
 */
async function warmUp(arch: Arch, assets: string, names: ReadonlyArray<string>): Promise<void> {
  const script = join(import.meta.dirname, "binary/warmUp.ts")
  const seen = new Set<string>()
  for (let n = 0; n < warmUpsAtMost; n++) {
    await live([...runner(arch), nodeOf(arch), fixedSeed, ...execArgv, script, assets])
    const hash = createHash("sha256")
    for (const name of names) {
      const cache = join(assets, cacheOf(name))
      hash.update(await readFile(cache))
    }
    const digest = hash.digest("hex")
    if (seen.has(digest)) return
    seen.add(digest)
  }
  throw new Error(`no two of ${warmUpsAtMost} warm-ups left the same code caches; is the machine overloaded?`)
}

async function bundleEntry(out: string): Promise<void> {
  await build({
    input: join(import.meta.dirname, "binary/entry.ts"),
    cwd: root,
    platform: "node",
    transform: { target: "node24" },
    output: { file: out, format: "cjs", minify: true }
  })
}

/** Makes `executable` in `work` of its entry.cjs and the assets, which are paths relative to it. */
async function seal(arch: Arch, work: string, assets: Readonly<Record<string, string>>): Promise<void> {
  const executable = join(work, "executable")
  const config = {
    main: "entry.cjs",
    output: "blob",
    useCodeCache: true,
    disableExperimentalSEAWarning: true,
    execArgv,
    execArgvExtension: "none",
    assets
  }
  await writeFile(join(work, "config.json"), JSON.stringify(config))
  const [file = "", ...args] = [...runner(arch), nodeOf(arch), fixedSeed, "--experimental-sea-config", "config.json"]
  await run(file, args, { cwd: work, env: {} })
  // Stripped before the injection: strip drops what it does not know.
  await copyFile(nodeOf(arch), executable)
  await chmod(executable, 0o755)
  await run(arch === process.arch ? "strip" : `${platforms[arch].triplet}-strip`, [executable])
  const postject = join(dirname(find("postject")), "cli.js")
  await run(process.execPath, [postject, executable, "NODE_SEA_BLOB", join(work, "blob"), "--sentinel-fuse", fuse])
}

/** Node says on stderr when it had to compile after all. */
async function verify(command: ReadonlyArray<string>): Promise<void> {
  const said = await live(command)
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
    options: { arch: { type: "string", default: process.arch }, empty: { type: "boolean", default: false } },
    allowPositionals: true
  })
  const { arch, empty } = values
  if (arch !== "x64" && arch !== "arm64") throw new Error(`--arch=${arch}: node is to be had for x64 and arm64`)
  const out = resolve(positionals[0] ?? join(root, "dist/csi-node-driver-registrar"))
  await (empty ? buildEmpty : buildBinary)(arch, out)
  console.log(relative(process.cwd(), out))
}
