/** Claim: whoever builds the image again from the same sources gets the same archive, byte for byte, and so the digest that is signed. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"

import { expect, inject, it, onTestFailed, onTestFinished } from "vitest"

import { Program } from "../fakes/peers/Program.ts"

const script = resolve(import.meta.dirname, "../../scripts/buildImage.ts")
/** Some four minutes on two busy cores, most of them under the emulator. */
const patienceMs = 1_200_000

it("a second build is the same file", { timeout: patienceMs }, async () => {
  const archive = inject("archive")
  const folder = mkdtempSync(join(tmpdir(), "registrar-again-"))

  // Another time zone and umask, and a place of its own for what is made on the way.
  const surroundings = ["env", "TZ=Pacific/Auckland", `TMPDIR=${folder}`, "sh", "-c", 'umask 077; exec "$0" "$@"']
  const build = new Program("the build", [...surroundings, process.execPath, script, folder])
  onTestFailed(() => console.log([...build.stdout.all, ...build.stderr.all].join("\n")))
  onTestFinished(() => rmSync(folder, { recursive: true }))

  expect(await build.exited).toMatchObject({ code: 0, signal: null })
  const digest = readFileSync(join(folder, "csi-node-driver-registrar.digest"), "utf8")
  expect(digest.trim()).toBe(inject("digest"))
  expect(readFileSync(join(folder, basename(archive))).equals(readFileSync(archive))).toBe(true)
})
