/** Claim: the settings are what upstream would have understood, and help and errors come out where upstream's do. */

import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { defaults } from "../../../src/machine/policies.ts"
import { httpAddress, readFlags, type Settings } from "../../../src/services/flags/Flags.ts"

function settings(...words: Array<string>): Settings {
  const read = readFlags(words, "registrar")
  if (read.kind !== "run") throw new Error(read.stderr)
  return read.settings
}

describe("readFlags", () => {
  it("gives every flag its default", () => {
    assert.deepEqual(settings(), {
      csiAddress: "/run/csi/socket",
      kubeletRegistrationPath: "",
      pluginRegistrationPath: "/registration",
      callTimeoutMs: defaults.callTimeoutMs,
      connectTimeoutMs: defaults.connectTimeoutMs,
      registrationAttempts: defaults.registrationAttempts,
      reannounceOnDriverRestart: defaults.reannounceOnDriverRestart,
      httpEndpoint: "",
      healthPort: 0,
      enablePprof: false,
      enableInspector: false,
      mode: "",
      metricsPath: "/metrics",
      probe: "alive",
      version: false,
      connectionTimeoutGiven: false,
      automaxprocs: false,
      deprecated: [],
      log: {
        format: "text",
        v: 0,
        vmodule: [],
        flushFrequencyMs: 5_000,
        text: { splitStream: false, infoBufferBytes: 0 },
        json: { splitStream: false, infoBufferBytes: 0 }
      }
    })
  })

  it("turns durations into milliseconds, below one too", () => {
    assert.equal(settings("--timeout=1m30s").callTimeoutMs, 90_000)
    assert.equal(settings("--timeout=500us").callTimeoutMs, 0.5)
    assert.equal(settings("--timeout=-1s").callTimeoutMs, -1_000)
  })

  it("notes --connection-timeout unless it is zero", () => {
    assert.isTrue(settings("--connection-timeout=1ns").connectionTimeoutGiven)
    assert.isFalse(settings("--connection-timeout=0s").connectionTimeoutGiven)
  })

  it("accepts the klog flags of old releases and names each once", () => {
    const read = settings("--logtostderr=false", "-stderrthreshold", "INFO", "--logtostderr", "--mode=x")
    assert.deepEqual(read.deprecated, ["--logtostderr", "--stderrthreshold"])
    assert.equal(read.mode, "x")
  })

  it("prints help on stderr and exits 0", () => {
    const read = readFlags(["-h"], "/csi-node-driver-registrar")
    assert.deepInclude(read, { kind: "exit", code: 0 })
    assert.notProperty(read, "stdout")
    assert.match(
      (read.kind === "exit" && read.stderr) || "",
      /^Usage of \/csi-node-driver-registrar:\n {2}-automaxprocs\n/
    )
  })

  it("gives the reason of any error on the first line and on the last, with exit 2", () => {
    const bad = fc.oneof(
      fc.constantFrom("---x", "--nope", "--timeout", "--v=-1"),
      fc.string().map((text) => `--health-port=x${text}`)
    )
    fc.assert(
      fc.property(bad, (word) => {
        const read = readFlags([word], "registrar")
        assert.deepInclude(read, { kind: "exit", code: 2 })
        const lines = ((read.kind === "exit" && read.stderr) || "").split("\n")
        assert.equal(lines.at(-1), "")
        assert.equal(lines.at(-2), lines[0])
        assert.equal(lines[1], "Usage of registrar:")
      })
    )
  })
})

describe("httpAddress", () => {
  it.each([
    [[], ""],
    [["--http-endpoint=127.0.0.1:9809"], "127.0.0.1:9809"],
    [["--health-port=9809"], ":9809"],
    [["--health-port=-1"], ""],
    [["--health-port=9809", "--http-endpoint="], ":9809"],
    [["--health-port=0", "--http-endpoint=:1"], ":1"]
  ])("of %j is %j", (words, address) => assert.equal(httpAddress(settings(...words)), address))
})
