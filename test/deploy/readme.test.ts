/** Claim: deploy/README.md says what is there: its examples can be read, its flags and log lines are ours, its versions are this one, its links lead somewhere. */
import * as fs from "node:fs"
import * as path from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { parse } from "yaml"

import { reportLines } from "../../src/machine/report.ts"
import { decide } from "../../src/services/flags/decide.ts"
import { readFlags } from "../../src/services/flags/Flags.ts"
import * as lines from "../../src/services/log/catalogue.ts"
import { release, version } from "../../src/version.ts"
import { deployFolder } from "./kustomize.ts"

const text = fs.readFileSync(path.join(deployFolder, "README.md"), "utf8")
const imageName = "csi-node-driver-registrar"

const examples = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml = ""]) => yaml)
const prose = text.replace(/^```[\s\S]*?^```$/gm, "")
const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span)

/** Every map in a value. */
const maps = (value: unknown): ReadonlyArray<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return []
  const inner = Object.values(value).flatMap(maps)
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner]
}

describe.each(examples)("the example\n%s", (yaml) => {
  it("is YAML, with a patch in it or not", () => {
    const patches = maps(parse(yaml)).flatMap(({ patch }) => (typeof patch === "string" ? [parse(patch)] : []))
    for (const patch of patches) assert.equal(patch.kind, "DaemonSet")
  })

  it("names the image with this version", () => {
    const named = maps(parse(yaml)).filter((map) =>
      [map.repository, map.newName].some((name) => typeof name === "string" && name.endsWith(imageName))
    )
    assert.isAbove(named.length, 0)
    for (const { tag, newTag } of named) assert.equal(tag ?? newTag, version)
  })
})

it("names no other version of the image", () => {
  const tags = [...text.matchAll(/registry\.example\.com\/csi-node-driver-registrar:([\w.-]+)/g)].map(([, tag]) => tag)
  assert.isAbove(tags.length, 0)
  for (const tag of tags) assert.equal(tag, version)
})

it.each(spans.filter((span) => span.startsWith("--")))("%s is a flag of ours", (span) => {
  const read = readFlags([...span.split(" "), "--kubelet-registration-path=/x"], imageName)
  assert.equal(read.kind, "run")
  if (read.kind === "run") assert.notEqual(decide(read.settings, imageName, release, "linux").kind, "exit")
})

const messages = [...Object.values(lines), ...Object.values(reportLines)].map(({ message }) => message)
const logTable = text.slice(text.indexOf("| line | meaning |")).split("\n\n", 1)[0] ?? ""
const told = [...logTable.matchAll(/^\| `([^`]+)`/gm)].map(([, message = ""]) => message)

it("has a table of log lines", () => assert.isAbove(told.length, 5))
it.each(told)("%s is a line of the log", (message) => assert.include(messages, message))

const links = [...prose.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link)
const anchorsOf = (markdown: string) =>
  [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, "")
      .replaceAll(" ", "-")
  )

it.each(links)("%s leads somewhere", (link) => {
  const [file = "", anchor] = link.split("#")
  const at = path.join(deployFolder, file === "" ? "README.md" : file)
  assert.isTrue(fs.existsSync(at))
  if (anchor !== undefined) assert.include(anchorsOf(fs.readFileSync(at, "utf8")), anchor)
})
