/** Claim: the diagnose mode names a file system that does not answer, and ends within ten seconds, though threads of it never come back. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"

import { expect, onTestFinished } from "vitest"

import type { Report } from "../../src/services/diagnose/report.ts"
import { Program } from "../fakes/peers/Program.ts"
import { it, underTest } from "./World.ts"

const limitMs = 10_000

/** Mounts a file system of FUSE that nobody serves at the first word, and runs the rest; a shell stays, as what holds it. */
const hung = `
  set -e
  exec 3<>/dev/fuse
  mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none "$1"
  shift
  "$@" 3>&-`
const mayMount = spawnSync("unshare", ["--mount", "sh", "-c", hung, "sh", "/mnt", "true"]).status === 0
const left = mayMount ? "" : " (left out: no FUSE, or no right to mount)"

it.skipIf(!mayMount).for(["csi-address", "plugin-registration-path"])(
  `where --%s leads${left}`,
  async (flag, { world }) => {
    const folder = join(world.root, "hung")
    fs.mkdirSync(folder)
    const from = performance.timeOrigin + performance.now()
    const program = new Program("diagnose", [
      ...["unshare", "--mount", "sh", "-c", hung, "sh", folder],
      ...underTest(),
      ...["--mode=diagnose", "--logging-format=json", "--kubelet-registration-path=/x", `--${flag}=${folder}/in`]
    ])
    onTestFinished(async () => {
      await program.kill()
    })

    const { code, at } = await program.exited

    expect(code).toBe(1)
    expect(at - from).toBeLessThanOrEqual(limitMs)
    expect(program.stderr.all).toEqual([])
    expect(program.stdout.all).toHaveLength(1)
    const { checks } = JSON.parse(program.stdout.all[0] ?? "") as Report
    expect(checks.map(({ fault }) => fault)).toContain("file-system-hangs")
  }
)
