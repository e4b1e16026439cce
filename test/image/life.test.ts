/**
 * Claim: the image is all that a pod needs. As PID 1, with a read-only root, no capability, no new privileges and no /tmp, as any uid that may write into the
 * folder, the registrar registers, and leaves nothing behind. The image for the other architecture does the same under an emulator.
 */
import * as fs from "node:fs"
import { join } from "node:path"

import { describe, expect, inject } from "vitest"

import { native } from "../../scripts/platforms.ts"
import { version } from "../../src/version.ts"
import { Http } from "../e2e/Http.ts"
import { said } from "../e2e/Registrar.ts"
import type { Container, Surroundings } from "./Container.ts"
import { filesOf } from "./setup.ts"
import { driverName, endpoint, it, socketName, type World } from "./World.ts"

const program = "/csi-node-driver-registrar"

interface Life extends Surroundings {
  readonly flags?: ReadonlyArray<string>
  /** Looks at the registrar while it is registered. */
  readonly meanwhile?: (container: Container) => unknown
}

const lives = async (world: World, arch: string, { flags = [], meanwhile = () => {}, ...surroundings }: Life = {}) => {
  const { address } = await world.driver()
  const { uid = 0 } = surroundings
  fs.chmodSync(address, 0o777)
  fs.chownSync(world.registry, uid, uid)
  fs.chmodSync(world.registry, 0o750)
  const { container, registrar, says } = world.registrar(arch, flags, surroundings)
  await says(said.started)
  expect(fs.statSync(join(world.registry, socketName)).uid).toBe(uid)
  const kubelet = world.kubelet()
  expect(await kubelet.getInfo()).toMatchObject({ name: driverName, endpoint })
  expect(await kubelet.notify(true)).toEqual({})
  kubelet.close()
  await says(said.registered)
  await meanwhile(container)
  expect(await registrar.end()).toMatchObject({ code: 0, signal: null })
  expect(registrar.lines.filter((line) => !line.startsWith("I"))).toEqual([])
  expect(world.entries()).toEqual([])
}

/** The fields of `/proc/PID/status`. */
const statusOf = (pid: number) =>
  Object.fromEntries(
    fs
      .readFileSync(`/proc/${pid}/status`, "utf8")
      .split("\n")
      .map((line) => line.split(":\t", 2))
  )

describe.each(Object.keys(inject("images")))("%s", (arch) => {
  it("tells its version", async ({ world }) => {
    const { program: container } = world.container(arch, ["--version"])

    expect(await container.exited).toMatchObject({ code: 0 })
    expect(container.stdout.all[0]).toBe(`${program} ${version}`)
    expect(container.stderr.all).toEqual([])
  })

  it("registers, ends with 0 on SIGTERM, and leaves nothing", ({ world }) => lives(world, arch))

  it("does so as uid 65534", ({ world }) => lives(world, arch, { uid: 65_534 }))
})

it("it is PID 1, may do nothing, and may write nowhere else", ({ world }) =>
  lives(world, native, {
    meanwhile: ({ pid }) => {
      expect(statusOf(pid)).toMatchObject({
        NSpid: expect.stringMatching(/\t1$/),
        CapEff: "0000000000000000",
        CapBnd: "0000000000000000",
        NoNewPrivs: "1"
      })
      const mounts = fs.readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n")
      const options = mounts.map((line) => line.split(" ")).find(([, , , , at]) => at === "/")?.[5]
      expect(options).toMatch(/^ro\b/)
      expect(fs.existsSync(`/proc/${pid}/root/tmp`)).toBe(false)
    }
  }))

it("it maps all libraries of the image, and nothing else", ({ world }) =>
  lives(world, native, {
    meanwhile: ({ pid }) => {
      const mapped = new Set(fs.readFileSync(`/proc/${pid}/maps`, "utf8").match(/(?<= )\/.*$/gm))
      const libraries = filesOf(world.image(native)).filter((file) => /\.so\b/.test(file))
      expect([...mapped].sort()).toEqual([program, ...libraries].sort())
    }
  }))

it("an exec probe finds its registrar", ({ world }) =>
  lives(world, native, {
    meanwhile: async (container) => {
      const words = [
        "--mode=kubelet-registration-probe",
        "--probe=registered",
        `--kubelet-registration-path=${endpoint}`
      ]
      const { exited, stderr } = container.exec([program, ...words])
      expect(await exited).toMatchObject({ code: 0 })
      expect(stderr.all).toEqual([expect.stringContaining('"Probe succeeded"')])
    }
  }))

it.for(["de_DE.UTF-8", "ja_JP.UTF-8", "tr_TR.UTF-8", "nonsense"])(
  "with LC_ALL=%s and a time zone: the same",
  (locale, { world }) => lives(world, native, { env: [`LC_ALL=${locale}`, "TZ=Asia/Kathmandu"] })
)

it("localhost in --http-endpoint is what /etc/hosts says, as a kubelet mounts it", async ({ world }) => {
  const http = await Http.open()
  const hosts = join(world.root, "hosts")
  fs.writeFileSync(hosts, "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n")
  await lives(world, native, {
    flags: [http.flag.replace("127.0.0.1", "localhost")],
    hostNetwork: true,
    mounts: [{ source: hosts, destination: "/etc/hosts" }],
    meanwhile: async () => expect(await http.get("/readyz")).toMatch(/^200 /)
  })
})

it("tells the kubelet in the container's message why it has ended", async ({ world }) => {
  const file = join(world.root, "termination-log")
  fs.writeFileSync(file, "")
  fs.chmodSync(file, 0o666)
  await world.driver()
  const { registrar, says } = world.registrar(native, ["--registration-attempts=1"], {
    mounts: [{ source: file, destination: "/dev/termination-log" }]
  })
  await says(said.started)
  const kubelet = world.kubelet()
  await kubelet.getInfo()
  await kubelet.notify(false, "RegisterPlugin error -- plugin registration failed with err: driver name is empty")
  kubelet.close()

  expect(await registrar.program.exited).toMatchObject({ code: 1, signal: null })
  const [cause, advice, , , ...events] = fs.readFileSync(file, "utf8").trimEnd().split("\n")
  expect(cause).toMatch(/^Registration process failed with error.*driver name is empty$/)
  expect(advice).toMatch(/^driver: the driver has no name/)
  expect(events.join("\n")).toMatch(/kubelet\.refused: awaitingKubelet → /)
})
