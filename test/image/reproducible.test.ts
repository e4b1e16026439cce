/** Claim: whoever builds the image again from the same sources gets the same archive, byte for byte, and so the digest that is signed. */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { promisify } from "node:util"

import { expect, inject, it, onTestFinished } from "vitest"

const script = resolve(import.meta.dirname, "../../scripts/buildImage.ts")
/** Four minutes on two busy cores, most of them under the emulator. */
const patienceMs = 1_200_000

it("a second build is the same file", { timeout: patienceMs }, async () => {
  const archive = inject("archive")
  const folder = mkdtempSync(join(tmpdir(), "registrar-again-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))

  // Another time zone and umask, and a place of its own for what is made on the way.
  const env = { ...process.env, TZ: "Pacific/Auckland", TMPDIR: folder }
  const command = 'umask 077; exec "$0" "$@"'
  await promisify(execFile)("sh", ["-c", command, process.execPath, script, folder], { env })

  const digest = readFileSync(join(folder, "csi-node-driver-registrar.digest"), "utf8")
  expect(digest.trim()).toBe(inject("digest"))
  expect(readFileSync(join(folder, basename(archive))).equals(readFileSync(archive))).toBe(true)
})
