/**
 * Claim: a life of the registrar is logged in upstream's words, at upstream's levels, callers and keys, as klog's text or component-base's JSON.
 *
 * Left out: the lines on failed health checks, which need a registrar that is well and cannot be reached.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"

import { describe, expect } from "vitest"

import { version } from "../../src/version.ts"
import { Http } from "./Http.ts"
import { type Registrar, said } from "./Registrar.ts"
import { driverName, it, type World } from "./World.ts"

/** klog's own: severity, month and day, time with microseconds, the process right-aligned in 7 columns, file and line. */
const klogHeader =
  /^(?<severity>[IE])(?<month>\d\d)(?<day>\d\d) (?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)\.(?<micros>\d{6}) (?<pid> {0,6}\d{1,7}) (?<caller>\w+\.(?:go|ts):\d+)\] (?<rest>".*)$/
const quoted = /"((?:[^"\\]|\\.)*)"/y
const pair = / (\w+)=("(?:[^"\\]|\\.)*"|[^" ]+)/y

const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
const mayDropRights = spawnSync("setpriv", [...nobody.slice(1), "true"]).status === 0

interface Entry {
  readonly severity: string
  readonly caller: string
  readonly message: string
  /** In the order in which they stand. */
  readonly values: ReadonlyArray<readonly [key: string, value: unknown]>
}

/** One line of the text format, read to its end. */
const fromText = (line: string): Entry => {
  const { severity = "", caller = "", rest = "" } = klogHeader.exec(line)?.groups ?? {}
  quoted.lastIndex = 0
  const message = JSON.parse(quoted.exec(rest)?.[0] ?? "null")
  pair.lastIndex = quoted.lastIndex
  const values: Array<readonly [string, unknown]> = []
  let at = pair.lastIndex
  for (let found = pair.exec(rest); found !== null; found = pair.exec(rest)) {
    at = pair.lastIndex
    values.push([found[1] ?? "", JSON.parse(found[2] ?? "")])
  }
  expect(rest.slice(at), line).toBe("")
  return { severity, caller, message, values }
}

/** One line of JSON: `ts`, `caller`, `msg`, then `v` unless it is an error, then the values. */
const fromJson = (line: string): Entry & { readonly ts: number; readonly v: number | undefined } => {
  const { ts, caller, msg, ...rest } = JSON.parse(line)
  const keys = Object.keys(JSON.parse(line))
  const values = Object.entries(rest).filter(([key]) => key !== "v")
  const isInfo = rest.v !== undefined
  expect(keys, line).toEqual(["ts", "caller", "msg", ...(isInfo ? ["v"] : []), ...values.map(([key]) => key)])
  return { severity: isInfo ? "I" : "E", caller, message: msg, values, ts, v: rest.v }
}

type Expected = readonly [v: number, caller: string, message: string, ...keys: ReadonlyArray<string>]

/** Of a life with one health check after the verdict. Those of `registrar.ts` are ours. */
const life: ReadonlyArray<Expected> = [
  [0, "main.go:145", "Version", "version"],
  [0, "main.go:146", "Running node-driver-registrar", "mode"],
  [0, "node_register.go:99", "Starting HTTP server", "endpoint"],
  [1, "main.go:163", "Attempting to open a gRPC connection", "csiAddress"],
  [5, "connection.go:234", "Connecting", "address"],
  [1, "main.go:171", "Calling CSI driver to discover driver name"],
  [5, "connection.go:264", "GRPC call", "method", "request"],
  [5, "connection.go:270", "GRPC response", "response", "err"],
  [2, "main.go:180", "CSI driver name", "csiDriverName"],
  [2, "registrar.ts:170", "Transition", "event", "from", "to", "driverConnected"],
  [0, "node_register.go:56", "Starting Registration Server", "socketPath"],
  [0, "node_register.go:66", "Registration Server started", "socketPath"],
  [2, "registrar.ts:170", "Transition", "event", "from", "to", "driverConnected"],
  [4, "main.go:90", "Received GetInfo call", "request"],
  [2, "registrar.ts:170", "Transition", "event", "from", "to", "driverConnected"],
  [0, "main.go:102", "Received NotifyRegistrationStatus call", "status"],
  [2, "registrar.ts:170", "Transition", "event", "from", "to", "driverConnected"],
  [0, "registrar.ts:130", "Registered with the kubelet", "csiDriverName"],
  [4, "node_register.go:144", "Attempting to open a gRPC connection", "socketfile"],
  [4, "node_register.go:152", "Calling node registrar to check if it still responds"],
  [5, "node_register.go:115", "Health check succeeded"],
  [2, "registrar.ts:170", "Transition", "event", "from", "to", "driverConnected"],
  [0, "registrar.ts:140", "Stopping", "signal"]
]

const outlineOf = ({ severity, caller, message, values }: Entry) => [
  severity,
  caller,
  message,
  ...values.map(([key]) => key)
]

const live = async (world: World, ...flags: ReadonlyArray<string>) => {
  await world.driver()
  const http = await Http.open()
  const registrar = await world.registered(http.flag, ...flags)
  expect(await http.get("/healthz")).toBe("200 ok")
  expect(await registrar.end()).toMatchObject({ code: 0, signal: null })
  return { registrar, endpointFlag: http.flag }
}

describe.for([0, 1, 2, 4, 5])("at --v=%i a life has the lines of its level", (v) => {
  const shown = life.filter(([least]) => least <= v)

  it("as text", async ({ world }) => {
    const { registrar } = await live(world, `--v=${v}`)

    expect(registrar.lines.map((line) => outlineOf(fromText(line)))).toEqual(shown.map(([, ...rest]) => ["I", ...rest]))
  })

  it("as JSON", async ({ world }) => {
    const { registrar } = await live(world, `--v=${v}`, "--logging-format=json")

    const entries = registrar.lines.map(fromJson)
    expect(entries.map(outlineOf)).toEqual(
      shown.map(([, caller, ...rest]) => [
        "I",
        `${caller.startsWith("connection.go") ? "connection" : "csi-node-driver-registrar"}/${caller}`,
        ...rest
      ])
    )
    expect(entries.map(({ v }) => v)).toEqual(shown.map(([least]) => least))
  })
})

it("the values are upstream's, the same in both formats", async ({ world }) => {
  await world.driver()
  const http = await Http.open()
  const flags = [http.flag, "--v=5", "--mode=node-register"]
  const text = await world.registered(...flags)
  await text.end()
  const json = await world.registered(...flags, "--logging-format=json")
  await json.end()

  const expected = {
    Version: { version },
    "Running node-driver-registrar": { mode: "node-register" },
    "Starting HTTP server": { endpoint: http.flag.replace("--http-endpoint=", "") },
    "Attempting to open a gRPC connection": { csiAddress: `${world.root}/csi.sock` },
    Connecting: { address: `unix://${world.root}/csi.sock` },
    "Calling CSI driver to discover driver name": {},
    "GRPC call": { method: "/csi.v1.Identity/GetPluginInfo", request: "{}" },
    "GRPC response": { response: `{"name":"${driverName}","vendor_version":"1"}`, err: null },
    "CSI driver name": { csiDriverName: driverName },
    "Starting Registration Server": { socketPath: world.socket },
    "Registration Server started": { socketPath: world.socket },
    "Received GetInfo call": { request: "" },
    "Received NotifyRegistrationStatus call": { status: "plugin_registered:true" },
    "Registered with the kubelet": { csiDriverName: driverName },
    Stopping: { signal: "SIGTERM" },
    // The last of them.
    Transition: { event: "stop.requested", from: "registered", to: "stopping", driverConnected: false }
  }
  const valuesOf = (entries: ReadonlyArray<Entry>) =>
    Object.fromEntries(entries.map(({ message, values }) => [message, Object.fromEntries(values)]))
  expect(valuesOf(text.lines.map(fromText))).toEqual(expected)
  expect(valuesOf(json.lines.map(fromJson))).toEqual(expected)
})

it("a port that was given as a number is logged as an address, and none as a server that is skipped", async ({
  world
}) => {
  await world.driver()
  const port = (await Http.open()).flag.split(":")[1]
  const registrar = await world.announced(`--health-port=${port}`)
  expect(registrar.lines).toContainEqual(
    expect.stringMatching(/^I.* node_register\.go:99\] "Starting HTTP server" endpoint=":\d+"$/)
  )
  await registrar.end()

  const without = await world.announced()
  expect(without.lines).toContainEqual(expect.stringMatching(/^I.* node_register\.go:96\] "Skipping HTTP server"$/))
})

describe("the header", () => {
  it("is klog's, with the time of the line and the number of the process", async ({ world }) => {
    const from = Date.now()
    const { registrar } = await live(world, "--v=5")

    const year = new Date(from).getFullYear()
    const headers = registrar.lines.map((line) => klogHeader.exec(line)?.groups ?? {})
    const times = headers.map(({ month, day, hour, minute, second, micros }) =>
      // A time without a zone is local.
      Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${micros?.slice(0, 3)}`)
    )
    for (const time of times) {
      expect(time).toBeGreaterThanOrEqual(from - 2)
      expect(time).toBeLessThanOrEqual(Date.now() + 2)
    }
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(headers.map(({ pid }) => pid)).toEqual(headers.map(() => String(registrar.program.pid).padStart(7)))
    // All of them whole milliseconds would be a clock that counts no finer.
    expect(headers.some(({ micros }) => !micros?.endsWith("000"))).toBe(true)
  })

  it("of JSON has milliseconds since the epoch, with a fraction", async ({ world }) => {
    const from = Date.now()
    const { registrar } = await live(world, "--v=5", "--logging-format=json")

    const times = registrar.lines.map((line) => fromJson(line).ts)
    for (const time of times) {
      expect(time).toBeGreaterThanOrEqual(from - 2)
      expect(time).toBeLessThanOrEqual(Date.now() + 2)
    }
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(times.some((time) => !Number.isInteger(time))).toBe(true)
  })

  it("of JSON has at most four decimals", async ({ world }) => {
    const { registrar } = await live(world, "--v=5", "--logging-format=json")

    for (const line of registrar.lines) expect(line).toMatch(/^\{"ts":\d{13}(\.\d{1,4})?,"caller":/)
  })

  it.for(["Pacific/Kiritimati", "America/St_Johns", "Nowhere/Land"])(
    "is in the time zone TZ=%s",
    async (zone, { world }) => {
      world.wrapper = ["env", `TZ=${zone}`]
      const timeZone = zone === "Nowhere/Land" ? "UTC" : zone
      const format = new Intl.DateTimeFormat("en-GB", {
        timeZone,
        month: "2-digit",
        day: "2-digit",
        hour: "2-digit",
        minute: "2-digit"
      })
      const stamp = () => format.format(new Date()).replace(/^(\d\d)\/(\d\d), /, "$2$1 ")

      const before = stamp()
      const registrar = world.registrar()
      const line = await registrar.says(said.version)

      expect([before, stamp()]).toContain(line.slice(1, "I1130 12:23".length))
    }
  )
})

describe("what fails is told as upstream tells it", () => {
  interface Case {
    readonly flags: ReadonlyArray<string>
    readonly arrange?: (world: World) => unknown
    readonly act?: (world: World, registrar: Registrar) => Promise<unknown>
    readonly last: readonly [caller: string, message: string, ...keys: ReadonlyArray<string>]
  }
  const cases: Record<string, Case> = {
    "a driver that is not there": {
      flags: ["--csi-connect-timeout=1ms"],
      last: ["main.go:167", "Error connecting to CSI driver", "err"]
    },
    "a driver without a name": {
      flags: [],
      arrange: (world) => world.driver(""),
      last: ["main.go:177", "Error retreiving CSI driver name", "err"]
    },
    "a folder that is missing": {
      flags: ["--plugin-registration-path=/nowhere/registration"],
      arrange: (world) => world.driver(),
      last: ["node_register.go:59", "Failed to listen on socket", "err", "socketPath"]
    },
    "an address that cannot be listened on": {
      flags: ["--http-endpoint=99999"],
      last: ["node_register.go:138", "", "err"]
    },
    "a kubelet that says no for the last time": {
      flags: ["--registration-attempts=1"],
      arrange: (world) => world.driver(),
      act: async (world, registrar) => {
        await registrar.says(said.started)
        await world.kubelet().notify(false, "no room")
      },
      last: ["main.go:104", "Registration process failed with error, restarting registration container", "err"]
    }
  }

  /** Whether upstream's keys come in upstream's order; ours may add some behind them. */
  const toldAs = async (world: World, { flags, arrange, act }: Case, ...more: ReadonlyArray<string>) => {
    await arrange?.(world)
    const registrar = world.registrar(...flags, ...more)
    await act?.(world, registrar)
    expect(await registrar.program.exited).toMatchObject({ code: 1, signal: null })
    return registrar
  }
  const ourOwn = (key: string) => key !== "advice"

  it.for(Object.entries(cases))("%s, as text: err comes first", async ([, each], { world }) => {
    const [severity, ...outline] = outlineOf(fromText((await toldAs(world, each)).lastLine))

    expect(severity).toBe("E")
    expect(outline.filter(ourOwn)).toEqual(each.last)
  })

  it.for(Object.entries(cases))("%s, as JSON: no v, err comes last", async ([, each], { world }) => {
    const registrar = await toldAs(world, each, "--logging-format=json")

    const [severity, ...outline] = outlineOf(fromJson(registrar.lastLine))
    const [caller, message, err, ...keys] = each.last
    expect(severity).toBe("E")
    expect(outline.filter(ourOwn)).toEqual([`csi-node-driver-registrar/${caller}`, message, ...keys, err])
  })

  it("a driver that does not come: every 10 s, with its address", async ({ world }) => {
    const registrar = world.registrar()

    const line = fromText(await registrar.says("Still connecting"))

    expect(outlineOf(line)).toEqual(["I", "connection.go:253", "Still connecting", "address"])
    expect(line.values).toEqual([["address", `unix://${world.root}/csi.sock`]])
  })

  it.skipIf(!mayDropRights)(
    mayDropRights
      ? "a socket that cannot be removed at the end: exit 1"
      : "a socket that cannot be removed at the end (left out: no right to run as another user)",
    async ({ world }) => {
      const driver = await world.driver()
      fs.chmodSync(world.root, 0o755)
      fs.chmodSync(driver.address, 0o777)
      fs.chownSync(world.registry, 65_534, 65_534)
      world.wrapper = nobody
      const registrar = await world.registered()
      fs.chownSync(world.registry, 0, 0)

      const { code } = await registrar.end()

      const [line, ...others] = registrar.lines.filter((each) => each.startsWith("E")).map(fromText)
      expect(others).toEqual([])
      expect(line).toMatchObject({ caller: "node_register.go:186", message: "Failed to remove socket with error" })
      expect(line?.values.filter(([key]) => ourOwn(key))).toEqual([
        ["err", `remove ${world.socket}: permission denied`],
        ["socket", world.socket]
      ])
      expect(code).toBe(1)
    }
  )

  it("a text of several lines is a block, and further values follow behind it", async ({ world }) => {
    await world.driver()
    const registrar = await world.announced()

    await world.refuses(registrar, 'first "line"\nsecond\r\n')
    await registrar.end()

    const text = registrar.lines.join("\n")
    expect(text).toContain(`] "${said.refused}" err=<\n\tfirst "line"\n\tsecond`)
    expect(text).toMatch(/\n > refusals=1 retryIn="[\d.]+s"\n/)
  })
})

describe("--vmodule", () => {
  it.for([
    ["main=5", "main.go"],
    ["connection=5", "connection.go"],
    ["node_*=5", "node_register.go"]
  ] as const)("%s raises its own file only", async ([modules, file], { world }) => {
    const { registrar } = await live(world, "--v=0", `--vmodule=${modules}`)

    expect(registrar.lines.map((line) => outlineOf(fromText(line)))).toEqual(
      life
        .filter(([least, caller]) => least === 0 || caller.startsWith(`${file}:`))
        .map(([, ...rest]) => ["I", ...rest])
    )
  })

  it("never lowers", async ({ world }) => {
    const { registrar } = await live(world, "--v=5", "--vmodule=main=1,*=0")

    expect(registrar.lines).toHaveLength(life.length)
  })
})
