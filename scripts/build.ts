// Bundles src/main.ts into dist/: minified CommonJS, which starts some 40 ms sooner than an ES module.
//
// It comes in pieces: main.cjs holds the light half, the others are required one after the other by the import()s of services/load.ts. V8 reads a file
// whole before its first line runs, 20 ms for all of them together, and --version, --help and the probe mode need main.cjs only. A piece runs, and
// loads the node: modules it names, when its import() does.
// Beside them lie source maps and meta.json, the modules that went in with their sizes; scripts/budget.ts reads the latter.
//
//   node scripts/build.ts [FOLDER]
import { execFileSync } from "node:child_process"
import { mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { join, relative, resolve } from "node:path"

import { type BuildOptions, build } from "rolldown"

import { grpcStubs } from "./grpcStubs.ts"
import { inspectorPage } from "./inspector/plugin.ts"

const root = resolve(import.meta.dirname, "..")

export interface Meta {
  /** Bytes of all pieces, minified. */
  readonly bytes: number
  /** The pieces by name, main.cjs first. */
  readonly pieces: Readonly<Record<string, number>>
  /** Bytes of each module before minification, the biggest first; names are relative to the repository. */
  readonly modules: ReadonlyArray<{ readonly name: string; readonly bytes: number }>
}

/** Names of the pieces, by the module that each begins with. */
const pieceNames: Readonly<Record<string, string>> = {
  src: "grpc",
  Layer: "effect",
  Program: "program",
  Tally: "metrics",
  Inspector: "inspector",
  pprofRoutes: "pprof"
}

/** The commit of the work tree, with "-dirty" when files differ from it; "unknown" outside a repository. */
export const commit = (): string => {
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
  try {
    return git("rev-parse", "HEAD") + (git("status", "--porcelain") === "" ? "" : "-dirty")
  } catch {
    return "unknown"
  }
}

/** What a bundle knows of its surroundings, and which JavaScript its node understands. */
export const transform = (): NonNullable<BuildOptions["transform"]> => ({
  target: "node24",
  define: { "process.env.NODE_ENV": '"production"', "process.env.REGISTRAR_COMMIT": JSON.stringify(commit()) },
  inject: { performance: [join(import.meta.dirname, "monotonic.ts"), "performance"] }
})

/** Bundles the program into `folder`; pieces of an earlier build that are none of this one go. */
export const bundle = async (folder: string): Promise<Meta> => {
  await mkdir(folder, { recursive: true })
  const { output } = await build({
    input: join(root, "src/main.ts"),
    cwd: root,
    platform: "node",
    plugins: [grpcStubs, inspectorPage],
    transform: transform(),
    output: {
      dir: folder,
      format: "cjs",
      // A require of a node: module; the import() would load the loader of ES modules with it.
      dynamicImportInCjs: false,
      minify: true,
      sourcemap: true,
      entryFileNames: "main.cjs",
      chunkFileNames: ({ name }) => `${pieceNames[name] ?? name}.cjs`
    }
  })
  const pieces = output.filter((file) => file.type === "chunk")
  const sizes = pieces.map(({ fileName, code }) => [fileName, Buffer.byteLength(code)] as const)
  const meta: Meta = {
    bytes: sizes.reduce((sum, [, bytes]) => sum + bytes, 0),
    pieces: Object.fromEntries(sizes),
    modules: pieces
      .flatMap(({ modules }) => Object.entries(modules))
      .map(([id, { renderedLength }]) => ({
        name: id.startsWith("\0") ? id.slice(1) : relative(root, id),
        bytes: renderedLength
      }))
      .filter(({ bytes }) => bytes > 0)
      .sort((a, b) => b.bytes - a.bytes)
  }
  const made = new Set(output.map(({ fileName }) => fileName))
  for (const file of await readdir(folder))
    if (/\.cjs(\.map)?$/.test(file) && !made.has(file)) await rm(join(folder, file))
  await writeFile(join(folder, "meta.json"), `${JSON.stringify(meta, null, 2)}\n`)
  return meta
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(root, "dist"))
  const { bytes, pieces, modules } = await bundle(folder)
  const parts = Object.entries(pieces).map(([name, size]) => `${name} ${(size / 1024).toFixed(1)}`)
  console.log(
    `${relative(process.cwd(), folder)}: ${(bytes / 1024).toFixed(1)} KiB of ${modules.length} modules (${parts.join(", ")})`
  )
}
