/** Claim: from what was found, the right fault follows; and what the registrar knows from the kubelet weighs more than how a path looks. */
import { assert, describe, it } from "vitest"

import { readFlags, type Settings } from "../../../src/services/flags/Flags.ts"
import type { StatusAnswer } from "../../../src/services/probe/statusSocketName.ts"
import { hostFolderIn } from "../../../src/services/registration/mountOf.ts"
import { grpcCode, type Reply } from "../../../src/services/diagnose/call.ts"
import { diagnose } from "../../../src/services/diagnose/diagnose.ts"
import { driverChecks } from "../../../src/services/diagnose/driverChecks.ts"
import type { DriverFacts } from "../../../src/services/diagnose/driverFacts.ts"
import { folderChecks } from "../../../src/services/diagnose/folderChecks.ts"
import type { FolderFacts } from "../../../src/services/diagnose/folderFacts.ts"
import { likeness, pathChecks } from "../../../src/services/diagnose/pathChecks.ts"
import { registrarChecks } from "../../../src/services/diagnose/registrarChecks.ts"
import type { RegistrarFacts } from "../../../src/services/diagnose/registrarFacts.ts"
import { type Check, failed, faults, ok, reportOf, textOf } from "../../../src/services/diagnose/report.ts"
import { otherFaults, rows } from "../../fixtures/troubleshooting.ts"

const now = 1_700_000_000_000

const settingsOf = (...words: ReadonlyArray<string>): Settings => {
  const read = readFlags(["--kubelet-registration-path=/var/lib/kubelet/plugins/x/csi.sock", ...words], "")
  if (read.kind !== "run") throw new Error(read.stderr)
  return read.settings
}
const settings = settingsOf()

const answered = (answer: Partial<StatusAnswer>): RegistrarFacts => ({
  kind: "answered",
  pid: 1,
  settings,
  answer: { state: "listening", registered: false, reason: "listening: the kubelet has not called yet", ...answer }
})
const nobody: RegistrarFacts = { kind: "notFound", looked: true }

const there = { kind: "there", mode: 0o750, uid: 0, gid: 0, writable: true } as const
const hostOf = (path: string) => ({ path, source: "/dev/vda1", type: "ext4", deleted: false })

/** Verdict and fault by the name of the check. */
const told = (checks: ReadonlyArray<Check>, name: string) => {
  const { verdict, fault } = checks.find((check) => check.name === name) ?? {}
  return fault === undefined ? verdict : `${verdict} ${fault}`
}

describe("calls of the driver", () => {
  const bytes = (...values: ReadonlyArray<number>) => Buffer.from(values)
  const answers = (response: Buffer, tookMs = 5): Reply => ({ code: grpcCode.ok, message: "", response, tookMs })
  const errs = (code: number): Reply => ({ code, message: "why", response: bytes(), tookMs: 5 })
  const good = {
    getPluginInfo: answers(bytes(0x0a, 1, 0x61)),
    probe: answers(bytes()),
    getPluginCapabilities: answers(bytes()),
    nodeGetInfo: answers(bytes(0x0a, 1, 0x62))
  }
  const facts = (calls: Partial<typeof good>): DriverFacts => ({
    socketPath: "/csi/csi.sock",
    file: { ...there, type: "socket" },
    host: undefined,
    greeting: { kind: "http2", tookMs: 1 },
    calls: { ...good, ...calls }
  })

  it("are all well", () => {
    assert.deepEqual([...new Set(driverChecks(facts({}), 1_000).map(({ verdict }) => verdict))], ["ok"])
  })

  it.each([
    ["get-plugin-info", { getPluginInfo: errs(grpcCode.unimplemented) }, "failed driver-answers-error"],
    ["get-plugin-info", { getPluginInfo: errs(grpcCode.unavailable) }, "failed driver-answers-error"],
    ["get-plugin-info", { getPluginInfo: errs(grpcCode.deadlineExceeded) }, "failed driver-slow"],
    ["get-plugin-info", { getPluginInfo: answers(bytes(0x0a, 1, 0x61), 1_500) }, "failed driver-slow"],
    ["get-plugin-info", { getPluginInfo: answers(bytes(0x0a)) }, "failed driver-answers-error"],
    ["driver-name", { getPluginInfo: answers(bytes()) }, "failed illegal-name"],
    ["probe", { probe: errs(grpcCode.unimplemented) }, "ok"],
    ["probe", { probe: answers(bytes(0x0a, 0)) }, "warning driver-not-ready"],
    ["probe", { probe: errs(grpcCode.failedPrecondition) }, "warning driver-not-ready"],
    ["probe", { probe: errs(grpcCode.deadlineExceeded) }, "warning driver-slow"],
    ["get-plugin-capabilities", { getPluginCapabilities: errs(grpcCode.unimplemented) }, "ok"],
    ["get-plugin-capabilities", { getPluginCapabilities: errs(grpcCode.unknown) }, "warning driver-answers-error"],
    ["node-get-info", { nodeGetInfo: errs(grpcCode.unimplemented) }, "failed node-info-fails"],
    ["node-get-info", { nodeGetInfo: answers(bytes()) }, "failed node-info-fails"],
    ["node-get-info", { nodeGetInfo: errs(grpcCode.deadlineExceeded) }, "warning driver-slow"]
  ] as const)("%s of %j", (name, calls, expected) => {
    assert.equal(told(driverChecks(facts(calls), 1_000), name), expected)
  })
})

describe("the registration folder", () => {
  const facts = (host: string, more: Partial<FolderFacts> = {}): FolderFacts => ({
    folder: "/registration",
    file: { ...there, type: "folder" },
    host: hostOf(host),
    sockets: [],
    ...more
  })
  const on = (host: string, registrar: RegistrarFacts) =>
    told(folderChecks(facts(host), registrar, "x"), "folder-on-host")

  it("is known by its name, until the kubelet has called there", () => {
    assert.equal(on("/var/lib/kubelet/plugins_registry", answered({})), "ok")
    assert.equal(on("/var/lib/kubelet/plugin_registry", answered({})), "failed kubelet-not-watching")
    assert.equal(on("/elsewhere", nobody), "failed kubelet-not-watching")
    assert.equal(on("/elsewhere", answered({ lastGetInfo: now })), "ok")
  })

  it("that the host has removed is told, whatever its name", () => {
    const removed = { host: { ...hostOf("/var/lib/kubelet/plugins_registry"), deleted: true } }
    assert.equal(told(folderChecks(facts("", removed), nobody, "x"), "folder-on-host"), "failed folder-deleted")
  })

  const socket = (name: string, driverName: string | undefined, greeting: object = { kind: "http2", tookMs: 1 }) =>
    ({ name, driverName, greeting }) as NonNullable<FolderFacts["sockets"]>[number]
  const stale = { kind: "noConnection", code: "ECONNREFUSED" }
  const ours = socket("x-reg.sock", "x")

  it.each([
    ["ours", [ours], answered({}), "ok"],
    ["ours, in another process", [ours], nobody, "failed name-taken"],
    ["ours, where processes cannot be seen", [ours], { kind: "notFound", looked: false }, "ok"],
    ["that of whoever displaced us", [ours], answered({ state: "displaced" }), "failed name-taken"],
    ["another one of our name", [ours, socket("old.sock", "x")], answered({}), "failed name-taken"],
    ["another driver's", [socket("y-reg.sock", "y")], answered({}), "ok"],
    ["a stale one", [ours, socket("y-reg.sock", "y", stale)], answered({}), "warning stale-sockets"],
    ["ours, left over", [socket("x-reg.sock", "x", stale)], nobody, "warning stale-sockets"],
    ["a silent one", [ours, socket("y-reg.sock", "y", { kind: "silent" })], answered({}), "warning silent-sockets"]
  ] as const)("holds %s", (_, sockets, registrar, expected) => {
    const checks = folderChecks(facts("/plugins_registry", { sockets }), registrar, "x")
    assert.equal(told(checks, "registration-sockets"), expected)
  })
})

describe("the endpoint", () => {
  it.each([
    ["/var/lib/kubelet/plugins/x/csi.sock", "/var/lib/kubelet/plugins/x/csi.sock", "same"],
    // A file system of its own below /var/lib/kubelet; a subvolume as the host's root.
    ["/var/lib/kubelet/plugins/x/csi.sock", "/plugins/x/csi.sock", "same"],
    ["/var/lib/kubelet/plugins/x/csi.sock", "/@/var/lib/kubelet/plugins/x/csi.sock", "same"],
    ["/var/lib/kubelet/plugins/x/csi.sock", "/data/kubelet/plugins/x/csi.sock", "alike"],
    ["/var/lib/kubelet/plugins/x/csi.sock", "/var/lib/kubelet/plugins/y/csi.sock", "different"],
    ["/var/lib/kubelet/plugins/x/csi.sock", "/var/lib/kubelet/plugins/x/driver.sock", "different"]
  ] as const)("%s beside %s: %s", (endpoint, real, expected) => assert.equal(likeness(endpoint, real), expected))

  const driver: DriverFacts = {
    socketPath: "/csi/csi.sock",
    file: { ...there, type: "socket" },
    host: hostOf("/var/lib/kubelet/plugins/y"),
    greeting: undefined,
    calls: undefined
  }
  const endpoint = (registrar: RegistrarFacts, ...words: ReadonlyArray<string>) =>
    told(
      pathChecks({ settings: settingsOf(...words), driver, folder: undefined, registrar, driverName: "x" }),
      "endpoint"
    )

  it("is well when the kubelet has come through, whatever it looks like", () => {
    assert.equal(endpoint(nobody), "failed endpoint-unreachable")
    assert.equal(endpoint(answered({ registered: true })), "ok")
    assert.equal(endpoint(answered({ lastVerdict: { at: now, accepted: true, text: "" } })), "ok")
  })

  it("is not when the kubelet could not dial it, whatever it looks like", () => {
    const text = "rpc error: dial unix /var/lib/kubelet/plugins/y/csi.sock: connect: no such file or directory"
    const refused = answered({ lastVerdict: { at: now, accepted: false, text } })
    assert.equal(
      endpoint(refused, "--kubelet-registration-path=/var/lib/kubelet/plugins/y/csi.sock"),
      "failed endpoint-unreachable"
    )
  })

  it.each(["unix:///var/lib/kubelet/plugins/y/csi.sock", "plugins/y/csi.sock", "/var/$(NAME)/csi.sock"])(
    "%s is no path on the host",
    (path) => assert.equal(endpoint(nobody, `--kubelet-registration-path=${path}`), "failed endpoint-unreachable")
  )

  it("and the others have at most 107 bytes", () => {
    const long = (bytes: number) => `--kubelet-registration-path=/${"a".repeat(bytes - 1)}`
    const lengths = (path: string) =>
      told(
        pathChecks({ settings: settingsOf(path), driver, folder: undefined, registrar: nobody, driverName: "x" }),
        "path-lengths"
      )
    assert.equal(lengths(long(107)), "ok")
    assert.equal(lengths(long(108)), "failed path-too-long")
  })
})

describe("the registrar and its kubelet", () => {
  const kubelet = (facts: RegistrarFacts) => told(registrarChecks(facts, settings, now), "kubelet")

  it("each state has its verdict", () => {
    assert.equal(kubelet(nobody), "unknown")
    assert.equal(kubelet(answered({ registered: true })), "ok")
    assert.equal(kubelet(answered({ since: now - 1_000 })), "warning kubelet-silent")
    assert.equal(kubelet(answered({ since: now - 136_000 })), "failed kubelet-silent")
    assert.equal(kubelet(answered({})), "warning kubelet-silent")
    assert.equal(kubelet(answered({ state: "awaitingKubelet", lastGetInfo: now })), "warning verdict-open")
    assert.equal(kubelet(answered({ state: "connecting" })), "warning not-announced")
    assert.equal(kubelet(answered({ state: "displaced" })), "unknown")
    // Announced again since.
    const lastVerdict = { at: now, accepted: false, text: "no" }
    assert.equal(kubelet(answered({ state: "listening", lastVerdict })), "failed refused-by-kubelet")
  })

  it("one with other flags is another's business", () => {
    const facts = answered({ registered: true })
    const ours = settingsOf("--csi-address=/other/csi.sock")
    assert.equal(told(registrarChecks(facts, ours, now), "registrar"), "warning flags-differ")
  })
})

describe("the report", () => {
  it("has the first failure for its cause, even behind a warning, and each text on one line", () => {
    const bad = failed("b", "socket-dead", "a\nb\u2028c", "means", "do")
    const report = reportOf("x", [{ ...bad, name: "a", verdict: "warning" }, ok("o", "fine"), bad])
    assert.deepEqual(report.cause, { check: "b", fault: "socket-dead" })
    assert.equal(textOf(report).trimEnd().split("\n").at(-1), "socket-dead: a b\\u2028c")
  })
})

describe("docs/troubleshooting.md", () => {
  it("has a row for each fault, and for nothing else", () => {
    const named = [...rows, ...otherFaults].map(({ fault }) => fault)
    assert.deepEqual(named.sort(), [...faults].sort())
  })

  const driver = (facts: Partial<DriverFacts>) =>
    driverChecks(
      {
        socketPath: "/s",
        file: { ...there, type: "socket" },
        host: undefined,
        greeting: undefined,
        calls: undefined,
        ...facts
      },
      1_000
    )
  const speaks = (greeting: DriverFacts["greeting"]) => driver({ greeting })
  const call = (code: number, response = "") => ({ code, message: "", response: Buffer.from(response), tookMs: 1 })
  const fine = call(grpcCode.ok, "\n\u0001a")
  const calls = (changed: Partial<NonNullable<DriverFacts["calls"]>>) =>
    driver({
      greeting: { kind: "http2", tookMs: 1 },
      calls: {
        getPluginInfo: fine,
        probe: call(grpcCode.ok),
        getPluginCapabilities: call(grpcCode.ok),
        nodeGetInfo: fine,
        ...changed
      }
    })
  const folder = (facts: Partial<FolderFacts>, registrar = nobody) =>
    folderChecks(
      { folder: "/f", file: { ...there, type: "folder" }, host: undefined, sockets: [], ...facts },
      registrar,
      "x"
    )
  const registrar = (facts: RegistrarFacts) => registrarChecks(facts, settings, now)
  const path = `--kubelet-registration-path=/${"a".repeat(107)}`

  const told: Readonly<Record<string, () => ReadonlyArray<Check> | Promise<ReadonlyArray<Check>>>> = {
    "address-illegal": async () => {
      const { text } = await diagnose(settingsOf("--csi-address=localhost:1", "--logging-format=json"), [])
      return JSON.parse(text).checks
    },
    "driver-speaks-no-http2": () => speaks({ kind: "hangsUp" }),
    "driver-answers-error": () => calls({ getPluginInfo: call(grpcCode.unimplemented) }),
    "driver-not-ready": () => calls({ probe: call(grpcCode.failedPrecondition) }),
    "node-info-fails": () => calls({ nodeGetInfo: call(grpcCode.unimplemented) }),
    "not-a-folder": () => folder({ file: { ...there, type: "other" } }),
    "folder-not-writable": () => folder({ file: { ...there, type: "folder", writable: false } }),
    "folder-deleted": () => folder({ host: { ...hostOf("/plugins_registry"), deleted: true } }),
    "silent-sockets": () =>
      folder({ sockets: [{ name: "y-reg.sock", driverName: "y", greeting: { kind: "silent" } }] }),
    "path-too-long": () =>
      pathChecks({
        settings: settingsOf(path),
        driver: undefined,
        folder: undefined,
        registrar: nobody,
        driverName: "x"
      }),
    "registrar-missing": () => registrar(nobody),
    "registrar-hangs": () => registrar({ kind: "silent", pid: 1, reason: "no answer", settings }),
    "flags-differ": () => registrarChecks(answered({}), settingsOf("--csi-address=/other/csi.sock"), now),
    "not-announced": () => registrar(answered({ state: "connecting" })),
    "kubelet-silent": () => registrar(answered({})),
    "verdict-open": () => registrar(answered({ state: "awaitingKubelet", lastGetInfo: now })),
    "file-system-hangs": () => [...driver({ file: { kind: "hangs" } }), ...folder({ file: { kind: "hangs" } })]
  }

  it.each(otherFaults)("$fault is told by $checks", async ({ fault, checks }) => {
    const all = (await told[fault]?.()) ?? []
    assert.isNotEmpty(checks)
    assert.includeMembers(
      all.filter((check) => check.fault === fault).map(({ name }) => name),
      [...checks]
    )
  })
})

describe("a folder on the host", () => {
  const line = (root: string, point: string) => `22 1 8:1 ${root} ${point} rw,relatime - ext4 /dev/vda1 rw\n`
  it("is read off the innermost mount", () => {
    const text =
      line("/", "/") + line("/var/lib/kubelet/plugins_registry", "/registration") + line("/a\\040b//deleted", "/gone")
    assert.equal(hostFolderIn(text, "/registration")?.path, "/var/lib/kubelet/plugins_registry")
    assert.equal(hostFolderIn(text, "/registration2/x")?.path, "/registration2/x")
    assert.deepEqual(hostFolderIn(text, "/gone"), { ...hostOf("/a b"), deleted: true })
  })
})
