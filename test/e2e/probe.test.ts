/**
 * Claim: the probe mode asks the registrar that runs beside it. `--probe=alive` fails only when one is there and does not answer; `--probe=registered`
 * says what is missing until the kubelet has registered us and our socket is in place. The socket that is asked belongs to the registrar alone.
 *
 * Each world has a path of its own for the kubelet, since that is how a probe knows its registrar.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { basename, join } from "node:path"

import { describe, expect, onTestFinished } from "vitest"

import { statusSocketPath } from "../../src/services/probe/statusSocketName.ts"
import { Program } from "../fakes/peers/Program.ts"
import { type Registrar, said } from "./Registrar.ts"
import { type HeldState, states } from "./states.ts"
import { bundleOnly, it, preloads, underTest, type World } from "./World.ts"

const alive = "--probe=alive"
const registered = "--probe=registered"
/** The registrar has 10 s to answer. */
const hungWithinMs = 11_000
const klogHeader = /^[IE]\S+ \S+ +\d+ registrar\.ts:\d+\] /

const pathFlag = ({ root }: World) => `--kubelet-registration-path=${root}/csi.sock`

/** A program that ends with its test. */
const start = (name: string, command: ReadonlyArray<string>): Program => {
  const program = new Program(name, command)
  onTestFinished(async () => {
    await program.kill()
  })
  return program
}

/** Exit code and the one line, without its header. */
const asked = async (program: Program): Promise<string> => {
  const { code } = await program.exited
  expect(program.stdout.all).toEqual([])
  return [code, ...program.stderr.all.map((line) => line.replace(klogHeader, ""))].join(" ")
}

const probe = (path: string, ...flags: ReadonlyArray<string>): Promise<string> =>
  asked(start("probe", [...underTest(), path, "--mode=kubelet-registration-probe", ...flags]))

const succeeded = (state: string, { program }: Registrar) => `0 "Probe succeeded" state="${state}" pid=${program.pid}`
const failed = (err: string, state: string, { program }: Registrar) =>
  `1 "Probe failed" err="${err}" state="${state}" pid=${program.pid}`

describe("in each state of its life", () => {
  const missing: Record<Exclude<HeldState, "registered">, (world: World) => string> = {
    connecting: ({ root }) => `connecting: ${root}/csi.sock does not exist`,
    identified: () => "identified: the registration socket is being put in place",
    listening: () => "listening: the kubelet has not called yet",
    awaitingKubelet: () => "awaitingKubelet: the kubelet has asked, its verdict is open",
    refused: () => "refused: the node has no room",
    displaced: () => "displaced: another registrar of this driver holds the registration socket"
  }

  it.for(Object.keys(states) as Array<HeldState>)("%s: it is alive, and says what it is", async (state, { world }) => {
    const path = pathFlag(world)
    const registrar = await states[state](world, path)

    const [byDefault, isAlive, isRegistered] = await Promise.all([
      probe(path),
      probe(path, alive),
      probe(path, registered)
    ])

    expect(byDefault).toBe(succeeded(state, registrar))
    expect(isAlive).toBe(byDefault)
    expect(isRegistered).toBe(
      state === "registered" ? succeeded(state, registrar) : failed(missing[state](world), state, registrar)
    )
  })
})

it("registered follows the kubelet's verdict: no, yes, no, yes", async ({ world }) => {
  const path = pathFlag(world)
  const registrar = await states.listening(world, path)
  expect(await probe(path, registered)).toMatch(/^1 /)
  await world.accepts(registrar)
  expect(await probe(path, registered)).toBe(succeeded("registered", registrar))
  await world.refuses(registrar, "first\nsecond")
  expect(await probe(path, registered)).toContain("1 ")
  await registrar.says(said.started)
  await world.accepts(registrar)
  expect(await probe(path, registered)).toBe(succeeded("registered", registrar))
})

it("a refusal may be long, and the probe has its answer all the same", async ({ world }) => {
  const path = pathFlag(world)
  const registrar = await states.listening(world, path)
  await world.refuses(registrar, "\u0001".repeat(50_000))

  expect(await probe(path, alive)).toBe(succeeded("refused", registrar))
})

it("with nobody to ask it is alive, as it always was, and not registered", async ({ world }) => {
  const path = pathFlag(world)
  const shown = `kubeletRegistrationPath="${world.root}/csi.sock"`

  expect(await probe(path)).toBe(`0 "Probe succeeded, no registrar to ask" ${shown}`)
  expect(await probe(path, registered)).toBe(`1 "Probe failed" err="no registrar runs here" ${shown}`)

  const killed = await states.listening(world, path)
  await killed.program.kill()
  expect(await probe(path)).toBe(`0 "Probe succeeded, no registrar to ask" ${shown}`)
})

it("what it found is not lost in an info buffer", async ({ world }) => {
  const buffered = ["--log-text-split-stream", "--log-text-info-buffer-size=64Ki"]
  const program = start("probe", [...underTest(), pathFlag(world), "--mode=kubelet-registration-probe", ...buffered])

  expect(await program.exited).toMatchObject({ code: 0 })
  expect(program.stdout.all).toEqual([expect.stringContaining('"Probe succeeded, no registrar to ask"')])
})

const newNamespace = ["unshare", "--mount"]
const mayMount = spawnSync("unshare", [...newNamespace.slice(1), "mount", "--bind", "/tmp", "/tmp"]).status === 0

it.skipIf(!mayMount)(
  mayMount
    ? "where /proc cannot be looked at there is nobody to ask"
    : "where /proc cannot be looked at (left out: no right to mount)",
  async ({ world }) => {
    const hidden = [...newNamespace, "sh", "-c", 'mount -t tmpfs none /proc; exec "$@"', "sh"]
    const words = [pathFlag(world), "--mode=kubelet-registration-probe"]

    expect(await asked(start("probe", [...hidden, ...underTest(), ...words]))).toMatch(
      /^0 "Probe succeeded, no registrar to ask"/
    )
  }
)

it("a registrar that hangs is not alive, and is again when it goes on", async ({ world }) => {
  const path = pathFlag(world)
  const registrar = await states.registered(world, path)
  process.kill(registrar.program.pid, "SIGSTOP")

  const from = performance.now()
  const [isAlive, isRegistered] = await Promise.all([probe(path, alive), probe(path, registered)])
  expect(performance.now() - from).toBeLessThanOrEqual(hungWithinMs)
  const hung = `1 "Probe failed" err="the registrar does not answer: no answer" pid=${registrar.program.pid}`
  expect(isAlive).toBe(hung)
  expect(isRegistered).toBe(hung)

  process.kill(registrar.program.pid, "SIGCONT")
  expect(await probe(path, alive)).toBe(succeeded("registered", registrar))
})

it("a registrar that is just starting is waited for", async ({ world }) => {
  const path = pathFlag(world)
  const registrar = world.registrar(path)
  // It can be found from now on, and asked only some 100 ms later.
  await registrar.says(said.version)

  expect(await probe(path, alive)).toBe(succeeded("connecting", registrar))
})

describe("whose registrar it is", () => {
  it("two of one PID namespace are told apart by their path", async ({ world }) => {
    const [one, two] = [`${pathFlag(world)}/one`, `${pathFlag(world)}/two`]
    await world.driver()
    const first = await world.registered(one)
    const driver = world.absentDriver("other.csi.k8s.io", join(world.root, "other.sock"))
    await driver.comes()
    const second = await world.announced(two, `--csi-address=${driver.address}`)

    expect(await probe(one, registered)).toBe(succeeded("registered", first))
    expect(await probe(two, registered)).toBe(failed("listening: the kubelet has not called yet", "listening", second))
    // The end of one path is not the other path.
    expect(await probe(pathFlag(world))).toContain('"Probe succeeded, no registrar to ask"')

    await first.end()
    expect(await probe(one, registered)).toContain("no registrar runs here")
    expect(await probe(two)).toBe(succeeded("listening", second))
  })

  it.for([
    (path: string) => ["--kubelet-registration-path", path],
    (path: string) => ["-kubelet-registration-path", path],
    (path: string) => ["--kubelet-registration-path=/another", `-kubelet-registration-path=${path}`, "--", "--version"]
  ])("its words may be written in any form: %#", async (form, { world }) => {
    const words = form(join(world.root, "csi.sock"))
    const registrar = world.registrar(...words)
    await registrar.says(said.waiting)

    expect(await probe(pathFlag(world))).toBe(succeeded("connecting", registrar))
  })

  it.skipIf(!mayMount)(
    mayMount
      ? "one of another mount namespace is another pod's"
      : "one of another mount namespace (left out: no right to make one)",
    async ({ world }) => {
      const path = pathFlag(world)
      world.wrapper = newNamespace
      await states.listening(world, path)

      expect(await probe(path)).toContain('0 "Probe succeeded, no registrar to ask"')
    }
  )
})

describe("the socket that is asked", () => {
  const socketOf = (world: World, { program }: Registrar) => statusSocketPath(world.registry, program.pid)

  it("is the owner's alone, invisible to the kubelet, and gone after the end", async ({ world }) => {
    const registrar = await states.listening(world)
    const { mode, uid } = fs.lstatSync(socketOf(world, registrar))

    expect((mode & 0o7777).toString(8)).toBe("600")
    expect(uid).toBe(process.getuid?.())
    expect(world.visible()).toHaveLength(1)
    expect(world.entries()).toHaveLength(2)
    await registrar.end()
    expect(world.entries()).toEqual([])
  })

  it("cannot be had in a folder that is missing, and that is what is said", async ({ world }) => {
    const registrar = world.registrar("--plugin-registration-path=/nowhere/registration")

    expect(await registrar.says("Probes cannot ask this registrar")).toContain(
      'err="no such file or directory" folder="/nowhere/registration"'
    )
  })

  it("of a predecessor that was killed is cleaned, that of one that lives is not", async ({ world }) => {
    const path = pathFlag(world)
    const living = await states.listening(world, path)
    const killed = await world.announced()
    await killed.program.kill()
    const left = basename(socketOf(world, killed))
    expect(world.entries()).toContain(left)
    const watch = world.watch()

    await world.announced()

    await watch.events.next(`${left} goes`, ({ name, there }) => name === left && !there)
    expect(fs.existsSync(socketOf(world, living))).toBe(true)
    expect(await probe(path)).toMatch(/^0 "Probe succeeded" state=/)
  })

  const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
  const mayDropRights = spawnSync("setpriv", [...nobody.slice(1), "true"]).status === 0
  const onlyAsRoot = mayDropRights ? "" : " (left out: no right to run as another user)"

  /** A program of another user, which says on its stdout how it went. */
  const other = (code: string, ...args: ReadonlyArray<string>) =>
    start("another user", [...nobody, process.execPath, "--eval", `const net = require("node:net");${code}`, ...args])

  it.skipIf(!mayDropRights)(`cannot be read by another user${onlyAsRoot}`, async ({ world }) => {
    const registrar = await states.listening(world)
    fs.chmodSync(world.root, 0o755)

    const reader = other(
      'net.connect(process.argv[1]).on("error", (e) => console.log(e.code)).on("data", (d) => console.log(String(d)))',
      socketOf(world, registrar)
    )

    await reader.exited
    expect(reader.stdout.all).toEqual(["EACCES"])
  })

  it.skipIf(!mayDropRights)(`cannot be squatted in a folder of root's${onlyAsRoot}`, async ({ world }) => {
    fs.chmodSync(world.root, 0o755)
    fs.chmodSync(world.registry, 0o755)

    const squatter = other(
      'net.createServer().on("error", (e) => console.log(e.code)).listen(process.argv[1], () => console.log("bound"))',
      statusSocketPath(world.registry, process.pid)
    )

    await squatter.exited
    expect(squatter.stdout.all).toEqual(["EACCES"])
  })

  it.skipIf(!mayDropRights)(
    `of another user, put there where anybody may write, is not believed${onlyAsRoot}`,
    async ({ world }) => {
      const path = pathFlag(world)
      fs.chmodSync(world.root, 0o755)
      fs.chmodSync(world.registry, 0o1777)
      await world.driver()
      // Its number is known before it starts.
      world.wrapper = ["sh", "-c", 'read -r _; exec "$@"', "sh"]
      const registrar = world.registrar(path)
      const socket = socketOf(world, registrar)
      const squatter = other(
        `net.createServer((s) => s.on("error", () => {}).end('{"state":"registered","registered":true,"reason":""}\\n')).listen(process.argv[1], () => console.log("bound"))`,
        socket
      )
      await squatter.stdout.next("bound", (line) => line === "bound")
      registrar.program.tell({})
      await registrar.says(said.started)

      expect(await probe(path, registered)).toBe(
        `1 "Probe failed" err="the registrar does not answer: ${socket} belongs to uid 65534, the registrar runs as 0" pid=${registrar.program.pid}`
      )
      expect(registrar.messages).toContain("Probes cannot ask this registrar")
    }
  )
})

describe("what it costs", () => {
  /** Prints what is loaded by name, and at the end all that Node itself has loaded. */
  const spy = `data:text/javascript,${encodeURIComponent(`
    import { Module } from "node:module"
    import { writeSync } from "node:fs"
    const load = Module._load
    Module._load = function (request, ...rest) {
      writeSync(1, "by name: " + request + "\\n")
      return load.call(this, request, ...rest)
    }
    process.on("exit", () => writeSync(1, "all: " + process.moduleLoadList.join() + "\\n"))
  `)}`
  const spied = async (...args: ReadonlyArray<string>) => {
    // Not as a word of the command line: the probe counts how many stand before its own.
    const program = start("probe", ["env", `NODE_OPTIONS=--import=${spy}`, process.execPath, ...args])
    await program.exited
    const told = (prefix: string) =>
      program.stdout.all.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length))
    return { byName: told("by name: "), all: told("all: ")[0]?.split(",") ?? [] }
  }

  it.skipIf(!preloads)(
    `it loads node:fs, node's handle of a pipe, and what Node has loaded by itself${bundleOnly}`,
    async ({ world }) => {
      const path = pathFlag(world)
      await states.registered(world, path)
      const script = join(world.root, "idle.cjs")
      fs.writeFileSync(
        script,
        // Signals and the time for the log's header are what every mode begins with.
        'process.on("SIGTERM", () => {}); performance.now(); require("node:fs"); process.binding("pipe_wrap")'
      )
      const idle = await spied(script)

      const { byName, all } = await spied(
        ...underTest().slice(1),
        path,
        "--mode=kubelet-registration-probe",
        registered
      )

      const ofNode = byName.filter((name) => name.startsWith("node:"))
      // node:path and node:util are part of Node's own start, and cost nothing.
      expect(new Set(ofNode)).toEqual(new Set(["node:fs", "node:path", "node:util"]))
      expect(byName.filter((name) => /effect|grpc|program/.test(name))).toEqual([])
      expect(all.filter((name) => !idle.all.includes(name))).toEqual([])
    }
  )
})
