/**
 * Claim: whoever builds the image again from the same sources gets the same bytes, and so the digest that is signed. Shown for this machine's architecture:
 * the other one is built by the same steps, under an emulator that takes minutes.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

import { expect, inject, it, onTestFailed, onTestFinished } from "vitest"

import { type Arch, platforms } from "../../scripts/platforms.ts"
import { Program } from "../fakes/peers/Program.ts"

const script = resolve(import.meta.dirname, "../../scripts/buildImage.ts")
const arch = process.arch as Arch
const digestFile = `csi-node-driver-registrar-${platforms[arch].debian}.digest`
const patienceMs = 600_000

it("a second build has the same digest", { timeout: patienceMs }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "registrar-again-"))

  // Another time zone and umask, and a place of its own for what is made on the way.
  const surroundings = ["env", "TZ=Pacific/Auckland", `TMPDIR=${folder}`, "sh", "-c", 'umask 077; exec "$0" "$@"']
  const build = new Program("the build", [...surroundings, process.execPath, script, `--arch=${arch}`, folder])
  onTestFailed(() => console.log([...build.stdout.all, ...build.stderr.all].join("\n")))
  onTestFinished(() => rmSync(folder, { recursive: true }))

  expect(await build.exited).toMatchObject({ code: 0, signal: null })
  const first = readFileSync(join(dirname(inject("archive")), digestFile), "utf8")
  expect(readFileSync(join(folder, digestFile), "utf8")).toBe(first)
})
