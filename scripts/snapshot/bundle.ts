/** Bundles the program for a snapshot: one file, since nothing of it is read at a start. */
import { join, resolve } from "node:path"

import { build } from "rolldown"

import { transform } from "../build.ts"
import { grpcStubs } from "../grpcStubs.ts"
import { inspectorPage } from "../inspector/plugin.ts"
import { lateBuiltins } from "./lateBuiltins.ts"

export const bundleProgram = async (out: string): Promise<void> => {
  await build({
    input: join(import.meta.dirname, "entry.ts"),
    cwd: resolve(import.meta.dirname, "../.."),
    platform: "node",
    plugins: [lateBuiltins, grpcStubs, inspectorPage],
    transform: transform(),
    output: { file: out, format: "cjs", codeSplitting: false, dynamicImportInCjs: false, minify: true }
  })
}
