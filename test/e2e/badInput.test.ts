/**
 * Claim: what cannot be announced ends in exit 1 with one clear line, upstream's words first; nothing is left, nothing of others is touched, and no
 * folder is made.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"

import { describe, expect } from "vitest"

import { identityOf } from "../fakes/peers/sockets.ts"
import type { Registrar } from "./Registrar.ts"
import { driverName, it, socketName, type World } from "./World.ts"

/** Waits for exit 1, and answers with the only error line, which is the last. */
const complaint = async (registrar: Registrar): Promise<string> => {
  expect(await registrar.program.exited).toMatchObject({ code: 1, signal: null })
  // Calling `messages` proves that each line is one of klog's: no name and no path has broken one.
  expect(registrar.messages.at(-1)).not.toBe("")
  expect(registrar.lines.filter((line) => line.startsWith("E"))).toEqual([registrar.lastLine])
  return registrar.lastLine
}

/** Everything below the world's folder, the driver's socket excepted. */
const tree = (world: World): ReadonlyArray<string> =>
  fs
    .readdirSync(world.root, { recursive: true, encoding: "utf8" })
    .filter((path) => path !== "csi.sock")
    .sort()

describe("a driver name", () => {
  it.for([
    "../x",
    "../../x",
    "a/b",
    "/x",
    "..",
    ".",
    "a".repeat(64),
    "",
    " ",
    "a b",
    "a\nb",
    "a\u0000b",
    "a\u001b[31mb",
    "ünïcode",
    ".a",
    "a.",
    "-a",
    "a-",
    "a_b"
  ])("%j is refused, in one line of the log", async (name, { world }) => {
    await world.driver(name)
    const before = tree(world)

    const line = await complaint(world.registrar())

    expect(line).toContain('main.go:177] "Error retreiving CSI driver name" err="driver name ')
    expect(line).toContain('advice="GetPluginInfo must return a CSI name; fix the driver"')
    expect(tree(world)).toEqual(before)
  })

  it.for(["a", "a".repeat(63), "A-0.b", "0", "a--b..c"])("%j is taken", async (name, { world }) => {
    await world.driver(name)
    const registrar = await world.announced()

    expect(world.visible()).toEqual([`${name}-reg.sock`])
    expect((await world.kubelet(join(world.registry, `${name}-reg.sock`)).getInfo()).name).toBe(name)
    expect(await registrar.end()).toMatchObject({ code: 0 })
    expect(world.entries()).toEqual([])
  })
})

describe("at the socket's path", () => {
  const mine = (world: World) => join(world.root, "mine")
  const cases = {
    "a file": (world: World) => fs.writeFileSync(world.socket, "mine"),
    "a folder": (world: World) => fs.mkdirSync(world.socket),
    "a symlink to nothing": (world: World) => fs.symlinkSync(mine(world), world.socket),
    "a symlink to a file": (world: World) => {
      fs.writeFileSync(mine(world), "mine")
      fs.symlinkSync(mine(world), world.socket)
    },
    "a symlink to itself": (world: World) => fs.symlinkSync(world.socket, world.socket)
  }

  it.for(Object.entries(cases))("%s is left alone", async ([what, put], { world }) => {
    await world.driver()
    put(world)
    const before = identityOf(world.socket)

    const line = await complaint(world.registrar())

    expect(line).toContain('] "Failed to listen on socket" err="')
    if (what !== "a symlink to itself") {
      const kind = what === "a symlink to a file" ? "a symlink to something that is no socket" : what
      expect(line).toContain(`file exists in socketPath ${world.socket} but it's not a socket: it is ${kind}`)
    }
    expect(identityOf(world.socket)).toBe(before)
    expect(world.entries()).toEqual([socketName])
  })

  it("a symlink to a socket is replaced, as upstream does, and its target stays", async ({ world }) => {
    await world.driver()
    await world.rival(mine(world))
    const target = identityOf(mine(world))
    fs.symlinkSync(mine(world), world.socket)

    await world.announced()

    expect(fs.lstatSync(world.socket).isSocket()).toBe(true)
    expect((await world.kubelet().getInfo()).name).toBe(driverName)
    // A rename away and back would have moved its change time.
    expect(identityOf(mine(world))).toBe(target)
  })
})

describe("a path", () => {
  const folderOfPathBytes = (world: World, bytes: number, name = socketName) => {
    const folder = join(world.root, "f".repeat(bytes - `${world.root}//${name}`.length))
    fs.mkdirSync(folder)
    return folder
  }

  it("of 107 bytes works", async ({ world }) => {
    await world.driver()
    const folder = folderOfPathBytes(world, 107)
    const registrar = await world.announced(`--plugin-registration-path=${folder}`)

    expect(world.visible(folder)).toEqual([socketName])
    expect((await world.kubelet(join(folder, socketName)).getInfo()).name).toBe(driverName)
    expect(await registrar.end()).toMatchObject({ code: 0 })
    expect(world.entries(folder)).toEqual([])
  })

  it("of 107 bytes works with the shortest name too: whatever else is bound in that folder is no longer", async ({
    world
  }) => {
    await world.driver("a")
    const folder = folderOfPathBytes(world, 107, "a-reg.sock")
    const registrar = await world.announced(`--plugin-registration-path=${folder}`)

    expect((await world.kubelet(join(folder, "a-reg.sock")).getInfo()).name).toBe("a")
    expect(registrar.lines.filter((line) => line.startsWith("E"))).toEqual([])
    expect(await registrar.end()).toMatchObject({ code: 0 })
    expect(world.entries(folder)).toEqual([])
    // A path that was cut off would name a neighbour of the folder.
    expect(world.entries(world.root).filter((name) => name.startsWith("."))).toEqual([])
  })

  it("of 108 bytes is refused, with the limit", async ({ world }) => {
    await world.driver()
    const folder = folderOfPathBytes(world, 108)

    const line = await complaint(world.registrar(`--plugin-registration-path=${folder}`))

    expect(line).toContain("the path has 108 bytes, a socket path has at most 107")
    expect(world.entries(folder)).toEqual([])
  })

  it("of the driver's socket that is too long is refused at once", async ({ world }) => {
    const address = join(world.root, "d".repeat(107))

    expect(await complaint(world.registrar(`--csi-address=${address}`))).toContain(
      `main.go:167] "Error connecting to CSI driver" err="--csi-address=\\"${address}\\" is `
    )
  })
})

describe("the registration folder", () => {
  it("that is missing is not made", async ({ world }) => {
    await world.driver()
    fs.rmdirSync(world.registry)

    const line = await complaint(world.registrar())

    expect(line).toContain(`err="listen unix ${world.socket}: bind: no such file or directory"`)
    expect(line).toContain("never created, that would hide a missing mount")
    expect(tree(world)).toEqual([])
  })

  it("that is a file is left alone", async ({ world }) => {
    await world.driver()
    fs.rmdirSync(world.registry)
    fs.writeFileSync(world.registry, "mine")

    expect(await complaint(world.registrar())).toContain(`${world.registry} is not a directory`)
    expect(fs.readFileSync(world.registry, "utf8")).toBe("mine")
  })

  it("that is named with a slash at its end, or by a relative path, is used", async ({ world }) => {
    await world.driver()
    const registrar = await world.announced(`--plugin-registration-path=${world.registry}/`)
    expect(world.visible()).toEqual([socketName])
    await registrar.end()

    const up = process.cwd().replaceAll(/\/[^/]+/g, "../")
    await world.announced(`--plugin-registration-path=${up}${world.registry.slice(1)}`)
    expect(world.visible()).toEqual([socketName])
  })

  const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
  const mayDropRights = spawnSync("setpriv", [...nobody.slice(1), "true"]).status === 0

  it.skipIf(!mayDropRights)(
    mayDropRights
      ? "that may not be written to is told with the rights that are missing"
      : "that may not be written to (left out: no right to run as another user)",
    async ({ world }) => {
      const driver = await world.driver()
      fs.chmodSync(world.root, 0o755)
      fs.chmodSync(driver.address, 0o777)
      world.wrapper = nobody

      const line = await complaint(world.registrar())

      expect(line).toContain(`err="listen unix ${world.socket}: bind: permission denied`)
      expect(line).toContain(`uid 65534, ${world.registry} has mode 0755 and owner 0`)
      expect(world.entries()).toEqual([])
    }
  )

  it.skipIf(!mayDropRights)(
    mayDropRights
      ? "that is one's own is enough: no other right is needed"
      : "that is one's own (left out: no right to run as another user)",
    async ({ world }) => {
      const driver = await world.driver()
      fs.chmodSync(world.root, 0o755)
      fs.chmodSync(driver.address, 0o777)
      fs.chownSync(world.registry, 65_534, 65_534)
      world.wrapper = nobody

      const registrar = await world.registered()

      expect(fs.lstatSync(world.socket)).toMatchObject({ uid: 65_534, gid: 65_534 })
      expect(await registrar.end()).toMatchObject({ code: 0 })
      expect(world.entries()).toEqual([])
    }
  )

  it.skipIf(!mayDropRights)(
    mayDropRights
      ? "whose sockets belong to others, in a sticky folder: theirs stays, and it is told"
      : "whose sockets belong to others (left out: no right to run as another user)",
    async ({ world }) => {
      const driver = await world.driver()
      fs.chmodSync(world.root, 0o755)
      fs.chmodSync(driver.address, 0o777)
      fs.chmodSync(world.registry, 0o1777)
      await world.deadSocket()
      const theirs = identityOf(world.socket)
      world.wrapper = nobody

      expect(await complaint(world.registrar())).toContain('] "Failed to listen on socket" err="')

      expect(identityOf(world.socket)).toBe(theirs)
      expect(world.entries()).toEqual([socketName])
    }
  )
})
