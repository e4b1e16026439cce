/** Claim: lines have the shape of klog's text and of component-base's JSON, and no value can break them. */

import fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"

import * as lines from "../../../src/services/log/catalogue.ts"
import { jsonLine, textLine } from "../../../src/services/log/format.ts"

const failedToListen = {
  severity: "error",
  v: 0,
  caller: "node_register.go:59",
  message: "Failed to listen on socket"
} as const

const PID = 21890
const AT = Date.UTC(2026, 10, 30, 3, 23, 24) + 920.443

beforeAll(() => void vi.stubEnv("TZ", "Asia/Tokyo"))
afterAll(() => void vi.unstubAllEnvs())

const text = (line: Parameters<typeof textLine>[0], values = {}) => textLine(line, values, AT, PID)
/** What follows the header. */
const tail = (line: Parameters<typeof textLine>[0], values = {}) => text(line, values).replace(/^.*?\] /, "")
const json = (line: Parameters<typeof textLine>[0], values = {}) => jsonLine(line, values, AT)

describe("text", () => {
  it("has klog's header, in local time to the microsecond, with a wide column for the pid", () => {
    assert.equal(
      text(lines.version, { version: "v2.17.0" }),
      'I1130 12:23:24.920443   21890 main.go:145] "Version" version="v2.17.0"\n'
    )
    assert.match(textLine(lines.pathRequired, {}, AT, 1), /^E1130 12:23:24\.920443 {7}1 main\.go:135\] "kubelet-reg/)
    assert.match(textLine(lines.version, {}, Date.UTC(2026, 0, 2), 12345678), /^I0102 09:00:00\.000000 12345678 main/)
  })

  it("names the file without its directory", () => assert.match(text(lines.connecting), / connection\.go:234\] /))

  it("puts err first on an error line, and leaves it in place on others", () => {
    assert.equal(
      tail(failedToListen, { socketPath: "/s", err: new Error("no") }),
      '"Failed to listen on socket" err="no" socketPath="/s"\n'
    )
    assert.equal(tail(lines.grpcResponse, { response: "{}", err: null }), '"GRPC response" response="{}" err=null\n')
  })

  it("leaves out an err that is not there", () => assert.equal(tail(lines.httpError, { err: undefined }), '""\n'))

  it("prints numbers and bools bare", () =>
    assert.equal(
      tail(lines.notify, { n: 1, yes: true, big: 2n, list: [1, "a"] }),
      `${'"Received NotifyRegistrationStatus call"'} n=1 yes=true big=2 list=[1,"a"]\n`
    ))

  it("gives a value of several lines a block", () => {
    assert.equal(
      tail(failedToListen, { err: "one\r\ntwo", socketPath: "/s" }),
      '"Failed to listen on socket" err=<\n\tone\r\n\ttwo\n > socketPath="/s"\n'
    )
    assert.equal(
      tail(lines.notify, { status: "one\n\n" }),
      '"Received NotifyRegistrationStatus call" status=<\n\tone\n\t\n >\n'
    )
  })

  it("is one line for any value without a line feed", () => {
    const value = fc.anything().filter((each) => typeof each !== "string" || !each.includes("\n"))
    fc.assert(fc.property(value, (status) => /^[^\n]*\n$/.test(text(lines.notify, { status, err: status }))))
  })
})

describe("JSON", () => {
  it("has ts, caller, msg, v and the values, in this order", () => {
    assert.equal(
      json(lines.version, { version: "v2.17.0" }),
      `{"ts":${AT},"caller":"csi-node-driver-registrar/main.go:145","msg":"Version","v":0,"version":"v2.17.0"}\n`
    )
    assert.match(json(lines.version), /^\{"ts":\d{13}\.\d{1,4},/)
    assert.include(json(lines.connecting), '"caller":"connection/connection.go:234"')
  })

  it("has no v on an error line, and err last", () => {
    assert.match(
      json(failedToListen, { err: new Error("no"), socketPath: "/s" }),
      /"msg":"Failed to listen on socket","socketPath":"\/s","err":"no"\}\n$/
    )
    assert.notInclude(json(lines.pathRequired), '"v"')
    assert.notInclude(json(lines.httpError, { err: null }), '"err"')
  })

  it("does not escape what HTML would", () => assert.include(json(lines.notify, { s: "<&>\x7fé" }), '"<&>\x7fé"'))

  it("is one line of JSON, whatever the values", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), (values) => {
        const line = json(lines.notify, values)
        assert.match(line, /^[^\n]*\n$/)
        assert.isObject(JSON.parse(line))
      })
    )
  })

  it("survives values that cannot be shown", () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    assert.equal(JSON.parse(json(lines.notify, { circle })).circle, "<cannot be shown>")
  })
})
