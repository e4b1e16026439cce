/** Claim: each import rule of the layers fires where it should, with a message that says what to do, and not beside it. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

import { assert, describe, it } from "@effect/vitest"

const root = path.resolve(import.meta.dirname, "..")
const biome = path.join(root, "node_modules/.bin/biome")

/** What the linter says of `code` if it stood in `file`. The rules see paths only, so a copy of the configuration elsewhere serves. */
const lint = (file: string, code: string): string => {
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), "lint-"))
  try {
    for (const part of ["biome.json", "lint"])
      fs.cpSync(path.join(root, part), path.join(copy, part), { recursive: true })
    fs.mkdirSync(path.join(copy, path.dirname(file)), { recursive: true })
    fs.writeFileSync(path.join(copy, file), `${code}\n`)
    const { stdout, stderr } = spawnSync(biome, ["lint", "--vcs-enabled=false", file], {
      cwd: copy,
      encoding: "utf8"
    })
    return stdout + stderr
  } finally {
    fs.rmSync(copy, { recursive: true })
  }
}

const rules = [
  ["src/machine/x.ts", 'import "node:fs"', "src/machine is pure"],
  ["src/machine/x.ts", 'import "effect/Effect"', "src/machine is pure"],
  ["src/machine/x.ts", 'import "../services/Status.ts"', "src/machine is pure"],
  ["src/services/flags/x.ts", 'import "effect/Effect"', "The light half runs before anything heavy"],
  ["src/services/log/x.ts", 'import "@grpc/grpc-js"', "The light half runs before anything heavy"],
  ["src/services/signals/x.ts", 'import "../Bridge.ts"', "The light half may not import the heavy half"],
  ["src/main.ts", 'import "xstate"', "The light half runs before anything heavy"],
  ["src/services/x.ts", 'import "../main.ts"', "nobody imports main.ts"],
  ["src/services/x.ts", 'import "effect/Schema"', "Schema adds 261 KiB"],
  ["src/services/x.ts", 'import "effect/http/HttpRouter"', "Too heavy for the start path"],
  ["src/services/x.ts", 'import "effect"', "Import one module"],
  ["src/services/x.ts", 'import "@effect/platform-node"', "Import by subpath"],
  ["src/services/x.ts", 'import "@grpc/proto-loader"', "The start path uses the codecs"],
  ["src/services/x.ts", "process.exit(1)", "Only src/main.ts ends the process"],
  ["src/services/x.ts", 'console.log("")', "Don't use console"],
  ["src/services/x.ts", 'export * from "./Status.ts"', "noBarrelFile"],
  [
    "src/services/x.ts",
    'import * as Effect from "effect/Effect"\nEffect.runSync(Effect.void)',
    "Do not run effects by hand"
  ],
  ["test/x.ts", 'import * as Effect from "effect/Effect"\nEffect.runPromise(Effect.void)', "Do not run effects by hand"]
] as const

const allowed = [
  ["src/machine/x.ts", 'import { setup } from "xstate"\nsetup({})'],
  ["src/machine/x.ts", 'import { limits } from "./policies.ts"\nlimits.graceMs.toFixed()'],
  ["src/services/flags/x.ts", 'import * as fs from "node:fs"\nfs.readFileSync("x")'],
  ["src/services/x.ts", 'import * as Effect from "effect/Effect"\nEffect.succeed(1)'],
  ["src/main.ts", "process.exit(1)"]
] as const

describe("the layers", () => {
  for (const [file, code, message] of rules) {
    it(`${file} may not contain: ${code.replaceAll("\n", "; ")}`, () => assert.include(lint(file, code), message))
  }
  for (const [file, code] of allowed) {
    it(`${file} may contain: ${code.replaceAll("\n", "; ")}`, () => {
      assert.notMatch(lint(file, code), /noRestrictedImports|plugin|noBarrelFile/)
    })
  }
})
