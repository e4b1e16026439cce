/**
 * Claim: a command line leads to the same output, on the same stream, and to the same exit code as upstream's, error by error and in the same order of
 * decisions; what is ours beside it, and what ours accepts where upstream does not, is in the same table (commandLineRows.ts).
 */
import { execFile, spawnSync } from "node:child_process"

import { describe, expect, it } from "vitest"

import { flags } from "../../src/services/flags/table.ts"
import { argv0, commit, help, type Outcome, rows } from "./commandLineRows.ts"
import { underTest } from "./World.ts"

/** No command line here leads to a registrar that goes on. */
const endsWithinMs = 10_000
const klogHeader = /^([IE])\d{4} [\d:.]+ +\d+ ([\w.]+:\d+\])/

const [program = "", ...before] = underTest()

const runs = (
  words: ReadonlyArray<string>
): Promise<{ readonly stdout: string; readonly lines: ReadonlyArray<string>; readonly code: number | null }> =>
  new Promise((resolve) => {
    const child = execFile(program, [...before, ...words], { timeout: endsWithinMs }, (_, stdout, stderr) =>
      resolve({
        stdout: stdout.replace(/^commit ([\da-f]{40}(-dirty)?|unknown)$/m, `commit ${commit}`),
        lines: stderr.split("\n").map((line) => line.replace(klogHeader, "$1 $2")),
        code: child.exitCode
      })
    )
  })

it.concurrent.for(rows)("%j", async ([given, outcome], { expect }) => {
  const { stdout, lines, code } = await runs(
    typeof given === "string" ? given.split(" ").filter((word) => word !== "") : given
  )

  // The last line is ended.
  expect(lines.at(-1)).toBe("")
  expect({ stdout, first: lines[0], last: lines.at(-2) ?? "", code }).toEqual(outcome satisfies Outcome)
})

const lineCount = 1 + 2 * Object.keys(flags).length + 1

it("help has two lines for each flag, sorted by name, in the layout of Go", async () => {
  const { lines } = await runs(["--help"])

  expect(lines).toHaveLength(lineCount + 1)
  const names = lines.flatMap((line) => /^ {2}-([\w-]+)/.exec(line)?.[1] ?? [])
  expect(names).toEqual(
    Object.values(flags)
      .map(({ name }) => name)
      .sort()
  )
  const heads = lines.filter((line) => line.startsWith("  -"))
  expect(heads).toEqual(
    expect.arrayContaining([
      "  -csi-address string",
      "  -enable-pprof",
      "  -health-port --health-port",
      "  -http-endpoint :8080",
      "  -timeout duration",
      "  -v value"
    ])
  )
  expect(lines.filter((line) => line.startsWith("    "))).toEqual(
    Array.from(names, () => expect.stringMatching(/^ {4}\t\S/))
  )
  expect(lines).toContainEqual(expect.stringMatching(/^ {4}\t.* \(default "\/run\/csi\/socket"\)$/))
  expect(lines).toContainEqual(expect.stringMatching(/^ {4}\t.* \(default 1s\)$/))
})

it("a refused command line gives the reason, the whole usage, and the reason again", async () => {
  const reason = "flag provided but not defined: -nope"
  const { lines } = await runs(["--nope"])

  expect(lines).toHaveLength(lineCount + 3)
  expect(lines.slice(0, 2)).toEqual([reason, help.first])
  expect(lines.slice(-3)).toEqual([help.last, reason, ""])
})

describe("what was given is told before the driver is looked for", () => {
  const path = "--kubelet-registration-path=/run/csi.sock"
  const doubt = 'E registrar.ts:90] "The kubelet will hardly reach --kubelet-registration-path" path='
  const cases: Record<string, readonly [words: ReadonlyArray<string>, line: string]> = {
    "the mode as it is": [[path, '--mode=a "b"'], 'I main.go:146] "Running node-driver-registrar" mode="a \\"b\\""'],
    "a flag without effect": [
      [path, "--connection-timeout=1ns"],
      'I main.go:160] "--connection-timeout is deprecated and will have no effect"'
    ],
    "flags of klog, all in one line": [
      [path, "--logtostderr", "-log_dir", "/x", "--logtostderr=false"],
      'I registrar.ts:10] "Flags of klog are accepted and have no effect" flags="--logtostderr --log_dir"'
    ],
    "a variable that was not replaced": [
      ["--kubelet-registration-path=/var/$(NAME)/csi.sock"],
      `${doubt}"/var/$(NAME)/csi.sock" advice="a $(VARIABLE) was not replaced; is it defined in this container's env?"`
    ],
    "a path with a scheme": [
      ["--kubelet-registration-path=unix:///run/csi.sock"],
      `${doubt}"unix:///run/csi.sock" advice="the kubelet needs the absolute path of the driver's socket on the host, without a scheme"`
    ]
  }

  it.for(Object.entries(cases))("%s", async ([, [words, line]]) => {
    const { lines } = await runs(["--csi-address=", ...words])

    expect(lines.slice(1, -2)).toContain(line)
  })
})

it("a broken log configuration is told as text, other refusals in the format that was asked for", async () => {
  const { lines } = await runs(["--logging-format=json"])
  const { ts, ...line } = JSON.parse(lines[0] ?? "")

  expect(Math.abs(Date.now() - ts)).toBeLessThan(60_000)
  expect(line).toEqual({
    caller: "csi-node-driver-registrar/main.go:135",
    msg: "kubelet-registration-path is a required parameter"
  })
})

it.for([
  ["--version", ">&-", 0],
  ["--version", ">/dev/full", 0],
  ["--help", "2>&-", 0],
  ["--help", "2>/dev/full", 0],
  ["--nope", "2>&-", 2],
  ["--nope", "2>/dev/full", 2],
  ["", "2>&-", 1],
  ["", "2>/dev/full", 1]
] as const)("%s with %s ends with exit %i all the same", ([word, redirection, code]) => {
  const words = word === "" ? [] : [word]
  const shell = spawnSync("sh", ["-c", `"$@" ${redirection}`, "sh", ...underTest(), ...words], { encoding: "utf8" })

  expect(shell).toMatchObject({ status: code, stdout: "", stderr: "" })
})

it("is called by the name that it was called by", () => {
  expect(help.first).toBe(`Usage of ${argv0}:`)
})
