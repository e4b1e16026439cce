/** Claim: what a command line leads to is decided in upstream's order, and its lines come in upstream's order. */

import { assert, describe, it } from "vitest"

import { decide, loggingErrors } from "../../../src/services/flags/decide.ts"
import { readFlags, type Settings } from "../../../src/services/flags/Flags.ts"

const release = { version: "v1.2.3", commit: "0123abc", node: "v24.0.0", compatible: "v2.17.0" }
const PATH = "--kubelet-registration-path=/var/lib/kubelet/plugins/x/csi.sock"

function settings(words: ReadonlyArray<string>): Settings {
  const read = readFlags(words, "registrar")
  if (read.kind !== "run") throw new Error(read.stderr)
  return read.settings
}

function outcome(...words: Array<string>) {
  const decision = decide(settings(words), "registrar", release)
  return { ...decision, messages: decision.entries.map(({ line }) => line.message) }
}

describe("decide", () => {
  it("refuses a broken log configuration before anything else, as text", () => {
    const decision = outcome("--version", "--logging-format=json", "--log-flush-frequency=0")
    assert.deepInclude(decision, { kind: "exit", code: 1, messages: ["LoggingConfiguration is invalid"] })
    assert.equal(decision.log.format, "text")
  })

  it("prints the version without the required path", () => {
    assert.deepInclude(outcome("--version"), {
      kind: "exit",
      code: 0,
      stdout:
        "registrar v1.2.3\ncommit 0123abc\nnode v24.0.0\ncompatible with kubernetes-csi/node-driver-registrar v2.17.0\n",
      messages: []
    })
  })

  it("asks for the path before it probes", () => {
    const messages = ["kubelet-registration-path is a required parameter"]
    assert.deepInclude(outcome(), { kind: "exit", code: 1, messages })
    assert.deepInclude(outcome("--mode=kubelet-registration-probe"), { kind: "exit", code: 1, messages })
  })

  it("probes without a word, whatever the other flags are", () => {
    const words = [PATH, "--mode=kubelet-registration-probe", "--health-port=1", "--http-endpoint=:1"]
    assert.deepInclude(outcome(...words), { kind: "probe", messages: [] })
  })

  it("diagnoses without a word, and keeps exit 1 for what it finds: bad flags are 2", () => {
    const mode = "--mode=diagnose"
    assert.deepInclude(outcome(PATH, mode, "--logging-format=json"), { kind: "diagnose", messages: [] })
    assert.deepInclude(outcome(mode), { kind: "exit", code: 2 })
    assert.deepInclude(outcome(PATH, mode, "--logging-format=xml"), { kind: "exit", code: 2 })
  })

  it("refuses both health flags after it has told its version and mode", () => {
    assert.deepInclude(outcome(PATH, "--health-port=1", "--http-endpoint=:1"), {
      kind: "exit",
      code: 1,
      messages: [
        "Version",
        "Running node-driver-registrar",
        "Only one of `--health-port` and `--http-endpoint` can be set"
      ]
    })
  })

  it("runs in any other mode, and says which flags do nothing", () => {
    const decision = outcome(PATH, "--mode=other", "--connection-timeout=1s", "--logtostderr", "-one_output")
    assert.equal(decision.kind, "run")
    assert.deepEqual(
      decision.entries.map(({ line, values }) => [line.message, values]),
      [
        ["Version", { version: "v1.2.3" }],
        ["Running node-driver-registrar", { mode: "other" }],
        ["--connection-timeout is deprecated and will have no effect", undefined],
        ["Flags of klog are accepted and have no effect", { flags: "--logtostderr --one_output" }]
      ]
    )
  })
})

describe("loggingErrors", () => {
  const zero = 'flushFrequency: Invalid value: "0s": Must be greater than zero'
  const vmodule = "vmodule: Forbidden: Only supported for text log format"
  it.each([
    [["--log-flush-frequency=0"], zero],
    [["--log-flush-frequency=-90s"], 'flushFrequency: Invalid value: "-1m30s": Must be greater than zero'],
    [["--log-flush-frequency=1ns"], undefined],
    [["--logging-format=xml"], 'format: Invalid value: "xml": Unsupported log format'],
    [["--logging-format="], 'format: Invalid value: "": Unsupported log format'],
    [["--logging-format=", "--vmodule=a=1"], 'format: Invalid value: "": Unsupported log format'],
    [["--logging-format=JSON"], 'format: Invalid value: "JSON": Unsupported log format'],
    [["--logging-format=json", "--vmodule=a=0"], vmodule],
    [["--logging-format=json", "--vmodule="], undefined],
    [
      ["--logging-format=xml", "--vmodule=a=1", "--log-flush-frequency=0s"],
      `[${zero}, format: Invalid value: "xml": Unsupported log format, ${vmodule}]`
    ],
    [["--log-text-split-stream", "--log-text-info-buffer-size=1k", "--log-json-split-stream"], undefined]
  ])("of %j", (words, expected) => assert.equal(loggingErrors(settings(words).log), expected))
})
