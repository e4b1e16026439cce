/**
 * Claim: a registrar that ends with 1 leaves the cause as the message of its container, however far it has come; whoever ends otherwise, or only asks beside it,
 * leaves that file alone.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"

import { describe, expect } from "vitest"

import { Program } from "../fakes/peers/Program.ts"
import { said } from "./Registrar.ts"
import { states } from "./states.ts"
import { it as itself, underTest, type World } from "./World.ts"

/** Runs the rest of the words where the file named first lies at /dev/termination-log, as a kubelet mounts it. */
const inContainer = `
  set -e
  mount -t tmpfs none /mnt
  for device in null zero random urandom; do touch "/mnt/$device"; mount --bind "/dev/$device" "/mnt/$device"; done
  touch /mnt/termination-log
  mount --bind "$1" /mnt/termination-log
  mount --rbind /mnt /dev
  shift
  exec "$@"`

const mayMount = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0
const it = itself.skipIf(!mayMount)
const title = (title: string) => (mayMount ? title : `${title} (left out: no right to mount)`)

const before = "of an earlier container\n"
const messageFile = (world: World): string => {
  const file = join(world.root, "termination-log")
  fs.writeFileSync(file, before)
  world.wrapper = ["unshare", "--mount", "sh", "-c", inContainer, "sh", file]
  return file
}

/** Exit code and message. */
const ended = async (world: World, ...flags: ReadonlyArray<string>) => {
  const file = messageFile(world)
  const program = new Program("registrar", [...world.wrapper, ...underTest(), ...flags])
  const { code } = await program.exited
  return { code, message: fs.readFileSync(file, "utf8") }
}

const path = "--kubelet-registration-path=/x"

describe("says why the container has ended", () => {
  it.for([
    ["without a required flag", [], "kubelet-registration-path is a required parameter\n"],
    [
      "with a log format that is none",
      [path, "--logging-format=xml"],
      /^LoggingConfiguration is invalid: format: .*\n$/
    ],
    ["with a driver's address that is none", [path, "--csi-address="], /^Error connecting to CSI driver: .*\n$/],
    ["with an HTTP address that is none", [path, "--http-endpoint=nowhere"], /^listen tcp.*\n$/]
  ] as const)(title("%s"), async ([, flags, expected], { world }) => {
    const { code, message } = await ended(world, ...flags)

    expect(code).toBe(1)
    expect(message).toMatch(expected)
  })

  it(title("after refusals, with the advice and the last events"), async ({ world }) => {
    const file = messageFile(world)
    const registrar = await states.listening(world, "--registration-attempts=1")
    const kubelet = world.kubelet()
    await kubelet.getInfo()
    await kubelet.notify(false, "RegisterPlugin error -- plugin registration failed with err: driver name is empty")
    kubelet.close()

    expect(await registrar.program.exited).toMatchObject({ code: 1 })
    const [cause, advice, , , ...events] = fs.readFileSync(file, "utf8").trimEnd().split("\n")
    expect(cause).toMatch(/^Registration process failed with error.*driver name is empty$/)
    expect(advice).toMatch(/^driver: the driver has no name/)
    expect(events.join("\n")).toMatch(/kubelet\.refused: awaitingKubelet → /)
  })
})

describe("leaves the message alone", () => {
  it(title("when it was asked to stop"), async ({ world }) => {
    const file = messageFile(world)
    const registrar = await states.registered(world)

    expect(await registrar.end()).toMatchObject({ code: 0 })
    expect(registrar.messages).toContain(said.stopping)
    expect(fs.readFileSync(file, "utf8")).toBe(before)
  })

  it.for(["--mode=kubelet-registration-probe", "--mode=diagnose"])(title("%s"), async (mode, { world }) => {
    const { code, message } = await ended(world, mode)

    expect(code).not.toBe(0)
    expect(message).toBe(before)
  })
})
