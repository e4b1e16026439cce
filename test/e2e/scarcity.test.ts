/**
 * Claim: where something is scarce (watches, descriptors, inodes, rights) or a peer is neither here nor gone (it flaps, hangs, ages, or is no stream), the registrar
 * says once what is missing, spends next to nothing while it waits, harms nobody, and is in place as soon as it can be.
 *
 * What is taken from a registrar is taken from that process alone: by another user, a limit of its own, or a mount namespace of its own.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as http2 from "node:http2"
import * as net from "node:net"
import { join } from "node:path"

import { expect, onTestFinished } from "vitest"

import { Feed } from "../fakes/peers/Feed.ts"
import { Program } from "../fakes/peers/Program.ts"
import { identityOf } from "../fakes/peers/sockets.ts"
import { type Registrar, said } from "./Registrar.ts"
import { states } from "./states.ts"
import { driverName, it, promptMs, socketName, World } from "./World.ts"

const lost = "Lost connection to the CSI driver, the registration stays"
const vacated = "The other registrar has left, announcing again"
const blocked = "Registration socket cannot be put in place, trying again"
const isWaiting = (message: string) => message === said.waiting
const errorsOf = ({ lines }: Registrar) => lines.filter((line) => line.startsWith("E"))

const succeeds = (command: string, ...args: ReadonlyArray<string>) => spawnSync(command, args).status === 0
/** A title that tells what a case needs, where that is not to be had. */
const where = (may: boolean, right: string) => ({
  may: it.skipIf(!may),
  title: (title: string) => (may ? title : `${title} (left out: ${right})`)
})

const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--bounding-set=-all"]
const asNobody = where(succeeds("setpriv", ...nobody.slice(1), "true"), "no right to run as another user")
const limited = where(succeeds("prlimit", "--nofile"), "no prlimit")
const mounting = where(succeeds("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"), "no right to mount")
const withPerl = where(succeeds("perl", "-MSocket", "-e", "1"), "no perl, and node makes no such socket")

// --- rights -----------------------------------------------------------------------------------------------------------

/** The driver's folder may be searched only, the registration folder written to as well; a watch needs a right to read. */
const unwatched = (world: World) => {
  const folder = join(world.root, "drv")
  fs.mkdirSync(folder)
  fs.chmodSync(folder, 0o711)
  fs.chmodSync(world.root, 0o711)
  fs.chmodSync(world.registry, 0o733)
  world.wrapper = nobody
  const address = join(folder, "csi.sock")
  return { driver: world.absentDriver(driverName, address), flag: `--csi-address=${address}` }
}

asNobody.may(
  asNobody.title("without a watch a late driver is seen, a lost socket put back, and nothing left at the end"),
  async ({ world }) => {
    const { driver, flag } = unwatched(world)
    const watch = world.watch()
    const registrar = world.registrar(flag)
    expect(await registrar.says(said.waiting)).toContain("does not exist")

    const from = performance.now()
    await driver.comes()
    fs.chmodSync(driver.address, 0o777)
    expect((await watch.appears(socketName)).at - from).toBeLessThanOrEqual(3 * promptMs)
    await world.accepts(registrar)

    const removedAt = performance.now()
    fs.rmSync(world.socket)
    await registrar.says(said.started)
    expect(performance.now() - removedAt).toBeLessThanOrEqual(5 * promptMs)
    expect(await registrar.end()).toMatchObject({ code: 0 })
    expect(world.entries()).toEqual([])
  }
)

asNobody.may(
  asNobody.title("a registration folder that may not be searched: one clear line, and exit 1"),
  async ({ world }) => {
    const closed = join(world.root, "closed")
    fs.mkdirSync(join(closed, "reg"), { recursive: true })
    const driver = await world.driver()
    fs.chmodSync(world.root, 0o711)
    fs.chmodSync(closed, 0o700)
    fs.chmodSync(driver.address, 0o777)
    world.wrapper = nobody

    const registrar = world.registrar(`--plugin-registration-path=${closed}/reg`)

    expect(await registrar.program.exited).toMatchObject({ code: 1, signal: null })
    expect(errorsOf(registrar)).toEqual([
      expect.stringMatching(/"Failed to listen on socket".*permission denied.*65534/)
    ])
  }
)

asNobody.may(
  asNobody.title("a driver's folder that may not be searched is told as that, once, and waited for"),
  async ({ world }) => {
    const { driver, flag } = unwatched(world)
    await driver.comes()
    fs.chmodSync(driver.address, 0o777)
    const folder = join(world.root, "drv")
    fs.chmodSync(folder, 0o700)
    const registrar = world.registrar(flag)
    expect(await registrar.says(said.waiting)).toContain("permission denied for uid 65534")

    fs.chmodSync(folder, 0o711)

    await registrar.says(said.started)
    expect(registrar.messages.filter(isWaiting)).toHaveLength(1)
  }
)

// --- descriptors ------------------------------------------------------------------------------------------------------

const softLimit = (pid: number) =>
  spawnSync("prlimit", ["--pid", `${pid}`, "--nofile", "--output=SOFT", "--noheadings"])

/** How many more descriptors a registrar may open than it has open now; undefined lifts the limit. */
const limitOf = ({ program: { pid } }: Registrar) => {
  const before = softLimit(pid).stdout.toString().trim()
  const open = new Set(fs.readdirSync(`/proc/${pid}/fd`).map(Number))
  const free = Array.from({ length: open.size + 10 }, (_, descriptor) => descriptor).filter((one) => !open.has(one))
  return (more: number | undefined) => {
    const limit = more === undefined ? before : free[more]
    expect(succeeds("prlimit", "--pid", `${pid}`, `--nofile=${limit}:`)).toBe(true)
  }
}

/** Of two, neither of which is registered: a connection of the kubelet that is about to end would be one more descriptor. */
const openTwo = async (world: World) => {
  await world.driver()
  const older = await world.announced()
  const winner = await world.announced()
  await older.says(said.displaced)
  return { older, winner, held: identityOf(world.socket) }
}

/** Nobody has come to the socket's place during a measurement, and the one who stands by has not thought that he might. */
const keepsItsSocket = async (world: World, older: Registrar, held: string, forMs: number) => {
  const taken = await world.watch().events.during(forMs, ({ name }) => name === socketName)
  expect(taken).toEqual([])
  expect(identityOf(world.socket)).toBe(held)
  expect(older.messages).not.toContain(vacated)
}

limited.may(
  limited.title("with hardly a descriptor to spare a live winner's socket is left alone, and what follows is mended"),
  async ({ world }) => {
    const { older, winner, held } = await openTwo(world)
    const spare = limitOf(older)

    for (const more of [0, 1, 2]) {
      spare(more)
      await keepsItsSocket(world, older, held, 1_500)
    }

    spare(0)
    await winner.end()
    expect(await older.says(blocked)).toContain("EMFILE")
    spare(undefined)
    await older.says(said.started)
    await world.accepts(older)
    expect(await older.end()).toMatchObject({ code: 0 })
    expect(world.entries()).toEqual([])
  }
)

limited.may(
  limited.title("a winner that has no descriptor to spare for a moment keeps its socket"),
  async ({ world }) => {
    const { older, winner, held } = await openTwo(world)
    const spare = limitOf(winner)
    spare(0)

    await keepsItsSocket(world, older, held, 2_000)

    spare(undefined)
    expect((await world.kubelet().getInfo()).name).toBe(driverName)
  }
)

// --- inodes -----------------------------------------------------------------------------------------------------------

/** Files take all that the folder itself leaves; they stand for those that fill a host. */
const fullFolder = `
  mount -t tmpfs -o nr_inodes=8 none /mnt && mkdir /mnt/full
  while touch "/mnt/full/$((count += 1))" 2>/dev/null; do :; done
  exec "$@"`

mounting.may(
  mounting.title("without an inode it tries again with back-off and says so, and is in place once there is room"),
  async ({ world }) => {
    await world.driver()
    world.wrapper = ["unshare", "--mount", "sh", "-c", fullFolder, "sh"]
    const registrar = world.registrar("--plugin-registration-path=/mnt")
    const seen = `/proc/${registrar.program.pid}/root/mnt`
    expect(await registrar.says(blocked)).toContain("no space left on device")
    const from = performance.now()
    await registrar.says(blocked)
    expect(performance.now() - from).toBeGreaterThanOrEqual(900)

    fs.rmSync(join(seen, "full"), { recursive: true })

    await registrar.says(said.started)
    expect((await world.kubelet(join(seen, socketName)).getInfo()).name).toBe(driverName)
    expect(errorsOf(registrar)).toHaveLength(registrar.messages.filter((message) => message === blocked).length)
    expect(await registrar.end()).toMatchObject({ code: 0 })
  }
)

// --- drivers that are neither here nor gone ---------------------------------------------------------------------------

const answer = Buffer.concat([
  Buffer.from([0, 0, 0, 0, driverName.length + 2, 0x0a, driverName.length]),
  Buffer.from(driverName)
])

/** A driver on bare HTTP/2, whose connections are at hand. */
class BareDriver {
  /** Connections that are usable, in order. */
  readonly connections = new Feed<http2.ServerHttp2Session>("connections of the driver")
  /** When it has answered. */
  readonly answered = new Feed<number>("answers of the driver")
  readonly server = http2.createServer()
  /** On every connection, as soon as it is usable. */
  hangsUp = false

  constructor(address: string) {
    this.server.on("session", (session) => {
      session.on("error", () => session.destroy())
      session.once("localSettings", () => {
        this.connections.push(session)
        if (this.hangsUp) setImmediate(() => session.destroy())
      })
    })
    this.server.on("stream", (stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true })
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }))
      stream.on("error", () => {})
      stream.on("close", () => this.answered.push(performance.now()))
      stream.resume().end(answer)
    })
    this.server.listen(address)
    onTestFinished(() => {
      for (const session of this.connections.all) session.destroy()
      this.server.close()
    })
  }

  /** The next connection that is usable. */
  connected(): Promise<http2.ServerHttp2Session> {
    return this.connections.next("a connection", () => true)
  }
}

it("a driver that closes connections for their age is not lost", async ({ world }) => {
  const driver = new BareDriver(join(world.root, "csi.sock"))
  const registrar = await world.registered()
  await driver.answered.next("an answer", () => true)

  // Says GOAWAY, and hangs up when no call is open.
  const aged = await driver.connected()
  aged.close()

  await driver.connected()
  expect(registrar.messages).not.toContain(lost)
  expect(driver.answered.all).toHaveLength(1)
})

it("a driver that hangs up each time costs neither the registration nor a flood of calls and lines", async ({
  world
}) => {
  const driver = new BareDriver(join(world.root, "csi.sock"))
  const registrar = await world.registered()
  const announced = identityOf(world.socket)
  const linesBefore = registrar.lines.length
  const first = await driver.connected()
  await driver.answered.next("an answer", () => true)

  driver.hangsUp = true
  first.destroy()
  // The window of a measurement.
  const tries = await driver.connections.during(2_000, () => true)
  driver.hangsUp = false

  expect(tries.length).toBeLessThanOrEqual(50)
  expect(registrar.lines.length - linesBefore).toBeLessThanOrEqual(50)
  expect(identityOf(world.socket)).toBe(announced)
  expect((await world.kubelet().getInfo()).name).toBe(driverName)
})

/** A socket that node cannot make, held by a program that says when it is there. */
const perl = async (script: string, address: string) => {
  const program = new Program("perl", [
    "/usr/bin/env",
    "perl",
    "-MSocket",
    "-e",
    `$| = 1; ${script} print "there\\n"; sleep 60`,
    address
  ])
  onTestFinished(() => void program.kill())
  await program.stdout.next("there", (line) => line === "there")
  return program
}

withPerl.may(withPerl.title("a datagram socket is told as an obstacle, once"), async ({ world }) => {
  await perl("socket($s, PF_UNIX, SOCK_DGRAM, 0); bind($s, sockaddr_un($ARGV[0]));", join(world.root, "csi.sock"))

  const registrar = world.registrar("--csi-connect-timeout=1s")

  expect(await registrar.says(said.waiting)).toMatch(/EPROTOTYPE.*it must be a stream socket/)
  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(registrar.messages.filter(isWaiting)).toHaveLength(1)
})

withPerl.may(
  withPerl.title("a driver whose queue is full is told apart from one that is not there"),
  async ({ world }) => {
    const address = join(world.root, "csi.sock")
    // Connects to itself, more often than it takes.
    const fill = "socket($c, PF_UNIX, SOCK_STREAM, 0); connect($c, sockaddr_un($ARGV[0]));"
    const hung = await perl(
      `socket($s, PF_UNIX, SOCK_STREAM, 0); bind($s, sockaddr_un($ARGV[0])); listen($s, 0); ${fill}`,
      address
    )
    const registrar = world.registrar()
    expect(await registrar.says(said.waiting)).toMatch(/its queue is full, nobody accepts/)

    await hung.kill()
    fs.rmSync(address)
    await world.driver()

    await registrar.says(said.started)
  }
)

// --- rivals -----------------------------------------------------------------------------------------------------------

/** One connection more: whether there was room for it. */
const findsRoom = (one: net.Socket): Promise<boolean> =>
  new Promise((resolve) => {
    one.once("connect", () => resolve(true)).on("error", () => resolve(false))
  })

/** Connects until nobody has room for one more. */
const fillQueue = async (socket: string): Promise<() => void> => {
  const waiting: Array<net.Socket> = []
  onTestFinished(() => waiting.forEach((one) => void one.destroy()))
  for (let room = true; room; ) {
    const one = net.connect(socket)
    waiting.push(one)
    room = await findsRoom(one)
  }
  return () => waiting.forEach((one) => void one.destroy())
}

/** What a client of HTTP/2 begins with: the preface, and SETTINGS without a setting. */
const greeting = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
])

/** Tries until there is room, and then until the server has spoken: whoever waited before has been accepted by then. */
const queueEmpties = async (socket: string): Promise<void> => {
  for (let room = false; !room; ) {
    const one = net.connect(socket)
    room = await findsRoom(one)
    if (room) await new Promise((resolve) => one.once("data", resolve).write(greeting))
    one.destroy()
  }
}

it("a winner that stops for a moment with a full queue keeps its socket", async ({ world }) => {
  const { older, winner, held } = await openTwo(world)
  process.kill(winner.program.pid, "SIGSTOP")
  const empty = await fillQueue(world.socket)

  await keepsItsSocket(world, older, held, 2_000)

  process.kill(winner.program.pid, "SIGCONT")
  empty()
  await queueEmpties(world.socket)
  expect((await world.kubelet().getInfo()).name).toBe(driverName)
})

it("a winner that hangs is taken over from within 8 s; continued, it is displaced and harms nobody", async ({
  world
}) => {
  const { older, winner } = await openTwo(world)

  const from = performance.now()
  process.kill(winner.program.pid, "SIGSTOP")
  await older.says(said.started)
  const tookMs = performance.now() - from
  const held = identityOf(world.socket)

  process.kill(winner.program.pid, "SIGCONT")
  await winner.says(said.displaced)
  await world.accepts(older)
  expect(await winner.end()).toMatchObject({ code: 0 })
  expect(identityOf(world.socket)).toBe(held)
  expect(await older.end()).toMatchObject({ code: 0 })
  expect(world.entries()).toEqual([])
  expect(tookMs).toBeLessThanOrEqual(8_000)
})

// --- idle cost --------------------------------------------------------------------------------------------------------

const windowMs = 2_000
const idleMs = 40

const idle = {
  // Of these `connecting` is the one whose driver is missing.
  ...states,
  "stale socket refusing": async (world: World) => {
    await world.deadSocket(join(world.root, "csi.sock"))
    const registrar = world.registrar()
    await registrar.says(said.waiting)
    return registrar
  },
  "mute driver": async (world: World) => {
    await world.rival(join(world.root, "csi.sock"))
    const registrar = world.registrar()
    await registrar.says(said.waiting)
    return registrar
  }
}

/** User and system time of all threads, finer than the ticks of /proc/PID/stat. */
const cpuMs = ({ program: { pid } }: Registrar) =>
  fs
    .readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(fs.readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1e6)
    .reduce((sum, ms) => sum + ms, 0)

it("whatever it waits for, it spends no more than 40 ms of CPU in 2 s", async () => {
  const worlds: Array<World> = []
  onTestFinished(async () => void (await Promise.all(worlds.map((world) => world.close()))))
  const registrars: Array<[string, Registrar]> = []
  for (const [state, enter] of Object.entries(idle)) {
    const world = new World()
    worlds.push(world)
    registrars.push([state, await enter(world)])
  }

  const before = registrars.map(([, registrar]) => cpuMs(registrar))
  // The window of the measurement.
  await new Promise((resolve) => setTimeout(resolve, windowMs))
  const spent = registrars.map(([state, registrar], at) => [state, cpuMs(registrar) - (before[at] ?? 0)] as const)

  expect(spent.filter(([, ms]) => ms > idleMs)).toEqual([])
})
