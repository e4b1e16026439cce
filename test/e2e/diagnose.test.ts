/**
 * Claim: the diagnose mode, run with the registrar's own flags, names what keeps a driver from being registered, in each of the worlds where that is known
 * to happen; docs/troubleshooting.md has a row for each, with a line that the registrar says there. It says so in text and in JSON alike, ends within ten
 * seconds whatever hangs, changes nothing, and costs the other modes nothing.
 *
 * Each world has a registration folder of the kubelet's name, and a path of its own for the kubelet, by which the registrar is found.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as http from "node:http"
import * as net from "node:net"
import { basename, dirname, join } from "node:path"

import { describe, expect, onTestFinished } from "vitest"

import type { Check, Report, Verdict } from "../../src/services/diagnose/report.ts"
import { Program } from "../fakes/peers/Program.ts"
import { rows } from "../fixtures/troubleshooting.ts"
import { checkNames } from "./checkNames.ts"
import { type Registrar, said } from "./Registrar.ts"
import { bundleOnly, driverName, it, preloads, socketName, underTest, type World } from "./World.ts"

const limitMs = 10_000

const registryOf = ({ root }: World): string => {
  const folder = join(root, "plugins_registry")
  fs.mkdirSync(folder, { recursive: true })
  return folder
}

/** The flags of the pod, which its registrar and diagnose have in common. */
const podFlags = (world: World, ...flags: ReadonlyArray<string>): ReadonlyArray<string> => [
  `--csi-address=${world.root}/csi.sock`,
  `--kubelet-registration-path=${world.root}/csi.sock`,
  `--plugin-registration-path=${registryOf(world)}`,
  ...flags
]

/** What is at work in a world, and the flags of its pod. */
interface Pod {
  readonly flags: ReadonlyArray<string>
  readonly registrar: Registrar
}

interface Told {
  readonly code: number | null
  readonly stdout: string
  readonly tookMs: number
}

const diagnose = async (world: World, flags: ReadonlyArray<string>): Promise<Told> => {
  const from = performance.timeOrigin + performance.now()
  const program = new Program("diagnose", [...world.wrapper, ...underTest(), ...flags, "--mode=diagnose"])
  onTestFinished(async () => {
    await program.kill()
  })
  const { code, at } = await program.exited
  expect(program.stderr.all).toEqual([])
  return { code, stdout: program.stdout.all.join("\n"), tookMs: at - from }
}

const reported = async (
  world: World,
  flags: ReadonlyArray<string>
): Promise<Report & { readonly code: number | null }> => {
  const { code, stdout } = await diagnose(world, [...flags, "--logging-format=json"])
  return { ...(JSON.parse(stdout) as Report), code }
}

const checkOf = (report: Report, name: string): Check => report.checks.find((check) => check.name === name)!

/** Starts a registrar in the world with the pod's flags, and waits for a line of its log. */
const pod = async (world: World, says: string, ...flags: ReadonlyArray<string>): Promise<Pod> => {
  const all = podFlags(world, ...flags)
  const registrar = world.registrar(...all)
  await registrar.says(says)
  return { flags: all, registrar }
}

const registrationSocket = (world: World) => join(registryOf(world), socketName)

/** The kubelet asks, and decides. */
const decides = async (world: World, registrar: Registrar, error?: string): Promise<void> => {
  const kubelet = world.kubelet(registrationSocket(world))
  await kubelet.getInfo()
  await kubelet.notify(error === undefined, error)
  kubelet.close()
  await registrar.says(error === undefined ? said.registered : said.refused)
}

const registered = async (world: World, ...flags: ReadonlyArray<string>): Promise<Pod> => {
  const made = await pod(world, said.started, ...flags)
  await decides(world, made.registrar)
  return made
}

const serves = async (server: net.Server, at: string): Promise<void> => {
  const connections = new Set<net.Socket>()
  server.on("connection", (socket: net.Socket) => {
    connections.add(socket)
    socket.on("error", () => {})
  })
  await new Promise<void>((resolve) => server.listen(at, resolve))
  onTestFinished(() => {
    for (const socket of connections) socket.destroy()
    server.close()
  })
}

const mute = () => net.createServer(() => {})
const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
const mayDropRights = spawnSync("setpriv", [...nobody.slice(1), "true"]).status === 0

const refusal = `RegisterPlugin error -- plugin registration failed with err: error adding CSI driver node info: driverNodeID must not be empty`

const unreachable = "/var/lib/kubelet/plugins/other/driver.sock"
const dialFails = `RegisterPlugin error -- plugin registration failed with err: rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix ${unreachable}: connect: no such file or directory"`

interface Row {
  readonly build: (world: World) => Promise<Pod>
  /** The check that names it, with its fault, and words of what was found and what to do. */
  readonly check: string
  readonly fault: string
  readonly found: RegExp
  readonly toDo: RegExp
  readonly verdict?: Verdict
  /** What has to happen before the log tells it, too. */
  readonly goesOn?: (world: World, pod: Pod) => Promise<void>
  /** Why it has to be left out here. */
  readonly unless?: string | undefined
}

const worlds: Record<string, Row> = {
  "a driver that is not started": {
    build: (world) => pod(world, said.waiting),
    check: "driver-socket",
    fault: "driver-not-started",
    found: /csi\.sock does not exist; its folder holds /,
    toDo: /driver's container/
  },
  "a socket that nobody listens on": {
    build: async (world) => {
      await world.deadSocket(join(world.root, "csi.sock"))
      return pod(world, said.waiting)
    },
    check: "driver-connects",
    fault: "socket-dead",
    found: /connection refused, nobody listens/,
    toDo: /listens elsewhere/
  },
  "a file in place of the socket": {
    build: (world) => {
      fs.writeFileSync(join(world.root, "csi.sock"), "")
      return pod(world, said.waiting)
    },
    check: "driver-socket",
    fault: "not-a-socket",
    found: /is no socket/,
    toDo: /--csi-address/
  },
  "a socket that may not be connected to": {
    build: async (world) => {
      await world.driver()
      fs.chmodSync(join(world.root, "csi.sock"), 0o700)
      fs.chmodSync(world.root, 0o755)
      fs.chownSync(registryOf(world), 65_534, 65_534)
      world.wrapper = nobody
      return pod(world, said.waiting)
    },
    check: "driver-connects",
    fault: "permission-denied",
    found: /permission denied for uid 65534/,
    toDo: /SELinux/,
    unless: mayDropRights ? undefined : "no right to run as another user"
  },
  "a mute driver": {
    build: async (world) => {
      await serves(mute(), join(world.root, "csi.sock"))
      return pod(world, said.waiting)
    },
    check: "driver-speaks-http2",
    fault: "driver-mute",
    found: /accepts connections and says nothing/,
    toDo: /restart/
  },
  "a server of HTTP/1 in place of the driver": {
    build: async (world) => {
      await serves(http.createServer(), join(world.root, "csi.sock"))
      return pod(world, said.waiting)
    },
    check: "driver-speaks-http2",
    fault: "driver-speaks-http1",
    found: /answers in HTTP\/1/,
    toDo: /gRPC socket/
  },
  "a driver that does not tell its name in time": {
    build: async (world) => {
      const driver = await world.driver()
      driver.hangs()
      return pod(world, said.waiting, "--timeout=200ms")
    },
    check: "get-plugin-info",
    fault: "driver-slow",
    found: /DeadlineExceeded after 4\.5s/,
    toDo: /driver's log/
  },
  "a driver with an illegal name": {
    build: async (world) => {
      await world.driver("a_b")
      const flags = podFlags(world)
      const registrar = world.registrar(...flags)
      await registrar.program.exited
      return { flags, registrar }
    },
    check: "driver-name",
    fault: "illegal-name",
    found: /driver name "a_b" is not a CSI name/,
    toDo: /fix the driver/
  },
  "a registration folder that is not the kubelet's": {
    build: async (world) => {
      await world.driver()
      return pod(world, said.started, `--plugin-registration-path=${world.registry}`)
    },
    check: "folder-on-host",
    fault: "kubelet-not-watching",
    found: /\/reg on /,
    toDo: /plugins_registry/
  },
  "no registration folder": {
    build: async (world) => {
      await world.driver()
      const flags = podFlags(world, `--plugin-registration-path=${world.root}/none`)
      const registrar = world.registrar(...flags)
      await registrar.program.exited
      return { flags, registrar }
    },
    check: "registration-folder",
    fault: "folder-missing",
    found: /\/none does not exist/,
    toDo: /hostPath/
  },
  "a stale socket of another driver": {
    build: async (world) => {
      await world.driver()
      await world.deadSocket(join(registryOf(world), "old.example.com-reg.sock"))
      return registered(world)
    },
    check: "registration-sockets",
    fault: "stale-sockets",
    found: /mock\.csi\.k8s\.io-reg\.sock answers, old\.example\.com-reg\.sock is stale/,
    toDo: /remove these files/,
    verdict: "warning"
  },
  "an endpoint that the kubelet cannot reach": {
    build: async (world) => {
      await world.driver()
      return pod(world, said.started, `--kubelet-registration-path=${unreachable}`)
    },
    goesOn: (world, { registrar }) => decides(world, registrar, dialFails),
    check: "endpoint",
    fault: "endpoint-unreachable",
    found: /other\/driver\.sock; the socket in the container is /,
    toDo: /as the host sees it/
  },
  "a driver that the kubelet refuses": {
    build: async (world) => {
      await world.driver()
      const made = await pod(world, said.started)
      await decides(world, made.registrar, refusal)
      return made
    },
    check: "kubelet",
    fault: "refused-by-kubelet",
    found: /^refused [\d.]+s ago: RegisterPlugin error -- .*driverNodeID must not be empty$/,
    toDo: /node's name or ID/
  },
  "another registrar that owns the name": {
    build: async (world) => {
      await world.driver()
      const first = await registered(world)
      const second = world.registrar(
        ...podFlags(world, "--kubelet-registration-path=/var/lib/kubelet/plugins/x/csi.sock")
      )
      await second.says(said.started)
      await first.registrar.says(said.displaced)
      return first
    },
    check: "registration-sockets",
    fault: "name-taken",
    found: /mock\.csi\.k8s\.io-reg\.sock answers/,
    toDo: /second pod of this driver/
  }
}

const names = (world: World) => fs.readdirSync(world.root, { recursive: true, encoding: "utf8" }).map(masked).sort()
/** A registrar's dot-names come and go. */
const masked = (name: string) => (basename(name).startsWith(".") ? dirname(name) : name)

/** Waits for a line of the log, unless it has been said, that has these pieces in this order. */
const tells = async ({ lines, program }: Registrar, pieces: ReadonlyArray<string>): Promise<void> => {
  const has = (line: string) => {
    const places = pieces.map((piece) => line.indexOf(piece))
    return places.every((at, n) => at > (places[n - 1] ?? -1))
  }
  if (!lines.some(has)) await program.stderr.next(pieces.join(" … "), has)
}

it("docs/troubleshooting.md has a row for each of these, and no other", () => {
  expect(rows.map(({ fault }) => fault).sort()).toEqual(
    Object.values(worlds)
      .map(({ fault }) => fault)
      .sort()
  )
})

describe("says what is wrong with, and the log has the line of docs/troubleshooting.md:", () => {
  for (const [title, row] of Object.entries(worlds)) {
    const left = row.unless === undefined ? "" : ` (left out: ${row.unless})`
    it.skipIf(row.unless !== undefined)(`${title}: ${row.fault}${left}`, async ({ world }) => {
      const built = await row.build(world)
      const { flags, registrar } = built
      const before = new Set(names(world))

      const report = await reported(world, flags)

      expect(report).toMatchObject({ code: 1, ok: false, cause: { check: row.check, fault: row.fault } })
      expect(report.checks.map(({ name }) => name)).toEqual(checkNames)
      const check = checkOf(report, row.check)
      expect(check.verdict).toBe(row.verdict ?? "failed")
      expect(check.found).toMatch(row.found)
      expect(check.means).not.toBe("")
      expect(check.toDo).toMatch(row.toDo)
      expect(new Set(names(world))).toEqual(before)

      const told = rows.find(({ fault }) => fault === row.fault)
      expect(told).toMatchObject({ verdict: check.verdict, checks: expect.arrayContaining([row.check]) })
      expect(told?.line).not.toEqual([])
      await row.goesOn?.(world, built)
      await tells(registrar, told?.line ?? [])
    })
  }
})

it("says of a registered driver that all is well, with exit 0", async ({ world }) => {
  await world.driver()
  const { flags, registrar } = await registered(world)

  const report = await reported(world, flags)

  expect(report.checks.filter(({ verdict }) => verdict !== "ok")).toEqual([])
  expect(report).toMatchObject({ code: 0, ok: true, cause: null, driver: driverName })
  expect(report.checks.map(({ name }) => name)).toEqual(checkNames)
  expect(checkOf(report, "registrar").found).toMatch(new RegExp(`^pid ${registrar.program.pid}, registered, for `))
  expect(checkOf(report, "node-get-info").found).toContain("node_id node-1")
  expect(checkOf(report, "probe").found).toContain("Unimplemented")
  const { stdout, code } = await diagnose(world, flags)
  expect(code).toBe(0)
  expect(stdout.trimEnd().split("\n").at(-1)).toBe(`${driverName}: all is well`)
})

it("a driver without a node service would be refused", async ({ world }) => {
  const driver = await world.driver()
  driver.nodeId = undefined
  const { flags } = await pod(world, said.started)

  const report = await reported(world, flags)

  expect(report.cause).toEqual({ check: "node-get-info", fault: "node-info-fails" })
})

it("a look is not taken for the kubelet's call", async ({ world }) => {
  await world.driver()
  const { flags, registrar } = await pod(world, said.started)

  expect(checkOf(await reported(world, flags), "kubelet")).toMatchObject({
    verdict: "warning",
    fault: "kubelet-silent"
  })
  expect(checkOf(await reported(world, flags), "kubelet")).toMatchObject({
    verdict: "warning",
    fault: "kubelet-silent"
  })

  await decides(world, registrar)
  expect(registrar.messages.filter((message) => message === said.asked)).toHaveLength(1)
  expect((await reported(world, flags)).ok).toBe(true)
})

describe("text and JSON say the same", () => {
  const verdicts: ReadonlyArray<string> = ["ok", "warning", "failed", "unknown"] satisfies ReadonlyArray<Verdict>
  const isText = expect.any(String)
  const valid = (report: Report) => {
    expect(Object.keys(report).sort()).toEqual(["cause", "checks", "driver", "ok"])
    for (const check of report.checks) {
      expect(verdicts).toContain(check.verdict)
      const bad = check.verdict === "warning" || check.verdict === "failed"
      const fault = bad ? { fault: expect.stringMatching(/^[a-z0-9-]+$/) } : {}
      expect(check).toEqual({ name: isText, verdict: isText, found: isText, means: isText, toDo: isText, ...fault })
      if (bad) expect([check.found, check.means, check.toDo]).not.toContain("")
    }
  }
  /** The checks as a reader of the table sees them. */
  const rowsIn = (text: string) => {
    const [head, ...lines] = text.split("\n")
    expect(head).toMatch(/^CHECK +VERDICT +FOUND$/)
    const rows: Array<Record<string, string>> = []
    for (const line of lines.slice(0, lines.indexOf(""))) {
      const [, name = "", verdict = "", found = ""] = /^(\S*) +(\S*) +(.*)$/.exec(line) ?? []
      const [, key = "", value = ""] = /^ +(fault|means|to do): (.*)$/.exec(line) ?? []
      if (name !== "") rows.push({ name, verdict: verdict.toLowerCase(), found, means: "", toDo: "" })
      else Object.assign(rows.at(-1)!, { [key === "to do" ? "toDo" : key]: value })
    }
    return rows
  }
  /** Times differ from one look to the next. */
  const timeless = (value: unknown) => JSON.stringify(value).replace(/\d+(\.\d+)?s\b/g, "Ns")

  it.for(["a driver that is not started", "a stale socket of another driver", "a driver that the kubelet refuses"])(
    "of %s",
    async (title, { world }) => {
      const { flags } = await worlds[title]!.build(world)
      const text = await diagnose(world, flags)
      const json = await diagnose(world, [...flags, "--logging-format=json"])

      expect(json.stdout.split("\n")).toHaveLength(1)
      const report: Report = JSON.parse(json.stdout)
      valid(report)
      const shown = rowsIn(text.stdout)
      // What the registrar does by itself meanwhile is not what is compared.
      const settled = (check: { readonly name?: string }) => check.name !== "registrar"
      expect(shown.map(({ name }) => name)).toEqual(checkNames)
      expect(shown.filter(settled).map(timeless).map(sortedKeys)).toEqual(
        report.checks.filter(settled).map(timeless).map(sortedKeys)
      )
      expect([text.code, json.code]).toEqual([1, 1])
      expect(text.stdout.trimEnd().split("\n").at(-1)).toMatch(new RegExp(`^${report.cause!.fault}: `))
    }
  )
})

const sortedKeys = (json: string) => Object.fromEntries(Object.entries(JSON.parse(json)).sort())

describe("takes ten seconds at most when everything hangs", () => {
  it("a driver that greets and answers no call", async ({ world }) => {
    const driver = await world.driver()
    const { flags, registrar } = await registered(world)
    driver.hangs()
    await everythingElseHangs(world, registrar)

    const { tookMs, code } = await diagnose(world, flags)

    expect(code).toBe(1)
    expect(tookMs).toBeLessThanOrEqual(limitMs)
  })

  it("a mute driver", async ({ world }) => {
    const driver = await world.driver()
    const { flags, registrar } = await registered(world)
    driver.goes()
    await serves(mute(), driver.address)
    await everythingElseHangs(world, registrar)

    const { checks, code } = await reported(world, flags)

    expect(code).toBe(1)
    expect(checks.flatMap(({ fault }) => fault ?? [])).toEqual(["driver-mute", "silent-sockets", "registrar-hangs"])
  })

  const everythingElseHangs = async (world: World, { program }: Registrar) => {
    for (const name of ["a-reg.sock", "b-reg.sock", "other.sock"]) await serves(mute(), join(registryOf(world), name))
    process.kill(program.pid, "SIGSTOP")
  }
})

describe("whatever lies in its way", () => {
  it("a FIFO in place of the driver's socket, and in the folder", async ({ world }) => {
    for (const fifo of [join(world.root, "csi.sock"), join(registryOf(world), "a-reg.sock")]) {
      expect(spawnSync("mkfifo", [fifo]).status).toBe(0)
    }

    const report = await reported(world, podFlags(world))

    expect(report).toMatchObject({ code: 1, cause: { check: "driver-socket", fault: "not-a-socket" } })
    expect(checkOf(report, "registration-sockets").found).toBe("no sockets")
  })

  it("symlinks that lead to themselves", async ({ world }) => {
    for (const link of [
      join(world.root, "csi.sock"),
      join(registryOf(world), "a-reg.sock"),
      join(world.root, "loop")
    ]) {
      fs.symlinkSync(link, link)
    }

    const report = await reported(world, podFlags(world))
    const looped = await reported(world, podFlags(world, `--plugin-registration-path=${world.root}/loop`))

    expect(report.code).toBe(1)
    expect(checkOf(report, "driver-socket")).toMatchObject({
      verdict: "failed",
      found: expect.stringContaining("ELOOP")
    })
    expect(checkOf(looped, "registration-folder")).toMatchObject({
      verdict: "failed",
      found: expect.stringContaining("ELOOP")
    })
  })

  it("a folder of ten thousand files, whose stale socket is found all the same", async ({ world }) => {
    await world.driver()
    for (let n = 0; n < 10_000; n++) fs.writeFileSync(join(registryOf(world), `file-${n}`), "")
    await world.deadSocket(join(registryOf(world), "old.example.com-reg.sock"))

    const report = await reported(world, podFlags(world))

    expect(checkOf(report, "registration-sockets")).toMatchObject({
      fault: "stale-sockets",
      found: expect.stringContaining("old.example.com-reg.sock is stale")
    })
  })

  it("a stream without an end at each socket", async ({ world }) => {
    const endless = () =>
      net.createServer((socket) => {
        const more = () => {
          while (!socket.destroyed && socket.write("x".repeat(65_536))) {}
        }
        socket.on("drain", more)
        more()
      })
    await serves(endless(), join(world.root, "csi.sock"))
    await serves(endless(), join(registryOf(world), "a-reg.sock"))

    const { stdout, code, tookMs } = await diagnose(world, podFlags(world))

    expect(code).toBe(1)
    expect(stdout).toContain("fault: driver-speaks-no-http2")
    expect(tookMs).toBeLessThanOrEqual(limitMs)
  })
})

it("changes nothing: no file comes, goes or is touched", async ({ world }) => {
  await world.driver()
  await world.deadSocket(join(registryOf(world), "old-reg.sock"))
  await serves(mute(), join(registryOf(world), "mute-reg.sock"))
  fs.writeFileSync(join(registryOf(world), ".hidden"), "")
  const before = snapshot(world)

  await diagnose(world, podFlags(world))

  expect(snapshot(world)).toEqual(before)
})

/** Whatever a file system tells of each file, its last access excepted; a name that had come and gone would have touched its folder. */
const snapshot = ({ root }: World) =>
  ["", ...fs.readdirSync(root, { recursive: true, encoding: "utf8" })].sort().map((name) => {
    const { ino, mode, uid, gid, size, mtimeNs, ctimeNs } = fs.lstatSync(join(root, name), { bigint: true })
    return [name, ino, mode, uid, gid, size, mtimeNs, ctimeNs]
  })

it.for([
  ["no path for the kubelet", []],
  ["an unknown flag", ["--kubelet-registration-path=/x", "--nope"]],
  ["a log format that is none", ["--kubelet-registration-path=/x", "--logging-format=xml"]]
] as const)("exit 2 for %s", ([, flags]) => {
  const [program = "", ...before] = underTest()
  const { status, stdout } = spawnSync(program, [...before, "--mode=diagnose", ...flags], { encoding: "utf8" })

  expect({ status, stdout }).toEqual({ status: 2, stdout: "" })
})

it.skipIf(!preloads)(`no other mode loads it${bundleOnly}`, async ({ world }) => {
  const [node = "", bundle = ""] = underTest()
  const copy = join(world.root, "dist")
  const isPiece = (name: string) => name.endsWith(".cjs") && name !== "diagnose.cjs"
  fs.mkdirSync(copy)
  for (const name of fs.readdirSync(dirname(bundle)).filter(isPiece)) {
    fs.copyFileSync(join(dirname(bundle), name), join(copy, name))
  }
  const run = (...words: ReadonlyArray<string>) =>
    spawnSync(node, [join(copy, basename(bundle)), ...words], { encoding: "utf8" })

  expect(run("--version").status).toBe(0)
  expect(run("--kubelet-registration-path=/x", "--mode=kubelet-registration-probe").status).toBe(0)
  expect(run("--kubelet-registration-path=/x", "--csi-address=").stderr).toContain("Error connecting to CSI driver")
  expect(run("--kubelet-registration-path=/x", "--mode=diagnose").stderr).toContain("diagnose.cjs")
})
