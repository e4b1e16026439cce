/**
 * Claim: the bill of materials is valid, is the same in the image and beside the archive, and names all that is in the image: what node says of itself, what
 * the bundle was made of, and whose libraries lie there. Of each there is the licence text.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { Version } from "@cyclonedx/cyclonedx-library/Spec"
import { JsonStrictValidator } from "@cyclonedx/cyclonedx-library/Validation"
import { PackageURL } from "packageurl-js"
import parseExpression from "spdx-expression-parse"
import { describe, expect, inject, it } from "vitest"

import lock from "../../package-lock.json" with { type: "json" }
import manifest from "../../package.json" with { type: "json" }
import { nodeOf } from "../../scripts/binary/nodeOf.ts"
import { bundle } from "../../scripts/build.ts"
import { runner } from "../../scripts/buildBinary.ts"
import { type Arch, archOf } from "../../scripts/platforms.ts"
import { filesOf } from "./setup.ts"

interface Component {
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly cpe?: string
  readonly type: string
  readonly licenses?: ReadonlyArray<{ readonly expression?: string; readonly license?: { readonly id?: string } }>
}

const sbomPath = "usr/share/sbom/csi-node-driver-registrar.cdx.json"

/** Names that are no libraries: node itself, its interfaces, and data within ICU. */
const noLibraries = ["cldr", "modules", "napi", "node", "tz", "unicode"]

/** Two that are node's own, and one in the public domain. */
const withoutText = ["nbytes", "ncrypto", "sqlite"]

const versionsOf = async (arch: Arch): Promise<Record<string, string>> => {
  const [file = "", ...args] = [
    ...(await runner(arch)),
    (await nodeOf(arch)).file,
    "-p",
    "JSON.stringify(process.versions)"
  ]
  return JSON.parse(execFileSync(file, args, { encoding: "utf8", env: {} }))
}

/** The packages of npm in the bundle, by the paths of its modules. */
const bundledNames = async () => {
  const folder = mkdtempSync(join(tmpdir(), "registrar-bundle-"))
  try {
    const { modules } = await bundle(folder)
    const names = modules.map(({ name }) =>
      name.startsWith("rolldown/") ? "rolldown" : /node_modules\/((?:@[^/]+\/)?[^/]+)\/[^@]*$/.exec(name)?.[1]
    )
    return [...new Set(names)].filter((name) => name !== undefined).sort()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe.each(Object.entries(inject("images")))("%s", (debian, image) => {
  const text = readFileSync(join(image.root, sbomPath), "utf8")
  const { metadata, components }: { metadata: { component: Component }; components: ReadonlyArray<Component> } =
    JSON.parse(text)
  const ofType = (type: string) =>
    components.flatMap(({ purl, ...rest }) => {
      const parsed = purl === undefined ? undefined : PackageURL.fromString(purl)
      return parsed?.type === type ? [{ ...rest, parsed }] : []
    })

  it("is valid CycloneDX 1.6", async () => {
    expect(await new JsonStrictValidator(Version.v1dot6).validate(text)).toBeNull()
  })

  it("is the one beside the archive", () => {
    const beside = join(dirname(inject("archive")), `csi-node-driver-registrar-${debian}.cdx.json`)
    expect(readFileSync(beside, "utf8")).toBe(text)
  })

  it("is about this version, made of this commit", () => {
    expect(metadata.component).toMatchObject({
      name: manifest.name,
      version: manifest.version,
      properties: [{ name: "revision", value: image.config.config.Labels["org.opencontainers.image.revision"] }]
    })
  })

  it("names node and all libraries that are part of it, in their versions", async () => {
    const versions = await versionsOf(archOf(debian) ?? "x64")
    const node = components.find(({ name }) => name === "node")
    expect(node?.version).toBe(versions.node)
    expect(node?.cpe).toBe(`cpe:2.3:a:nodejs:node.js:${versions.node}:*:*:*:*:*:*:*`)
    const said = Object.entries(versions).filter(([name, version]) => version !== "" && !noLibraries.includes(name))
    const parts = components.filter(({ purl = "" }) => /^pkg:(github|generic|npm)\//.test(purl) && purl !== node?.purl)
    const inBundle = new Set(await bundledNames())
    const listed = parts.filter(({ name }) => !inBundle.has(name)).map(({ version }) => version)
    expect(listed.sort()).toEqual(said.map(([, version]) => version).sort())
    for (const name of ["openssl", "libuv", "v8", "zlib", "nghttp2", "llhttp", "icu", "c-ares"]) {
      expect(parts.map((part) => part.name)).toContain(name)
    }
  })

  it("names the packages of npm in the bundle, in the locked versions and with their licences", async () => {
    const names = await bundledNames()
    const locked: Record<string, { version?: string; license?: string }> = lock.packages
    const named = ofType("npm").filter(({ name }) => names.includes(name))
    expect(named.map(({ name }) => name).sort()).toEqual(names)
    for (const { name, version, licenses } of named) {
      const { version: expected, license } = locked[`node_modules/${name}`] ?? {}
      expect([name, version, licenses]).toEqual([name, expected, [{ license: { id: license } }]])
    }
  })

  it("names the packages that the system's libraries come from, as Debian's tracker knows them", () => {
    const status = ["libc6", "libgcc-s1", "libstdc++6"].map((name) => {
      const text = readFileSync(join(image.root, "var/lib/dpkg/status.d", name), "utf8")
      return [
        name,
        /^Version: (.*)$/m.exec(text)?.[1],
        { arch: debian, distro: "debian-12", upstream: /^Source: (\S+)/m.exec(text)?.[1] }
      ]
    })
    expect(ofType("deb").map(({ name, version, parsed }) => [name, version, { ...parsed.qualifiers }])).toEqual(status)
  })

  it("gives a licence for each, which is in the label, and whose text is in the image", () => {
    const label = image.config.config.Labels["org.opencontainers.image.licenses"] ?? ""
    expect(() => parseExpression(label)).not.toThrow()
    const files = filesOf(image)
    const ofNode = readFileSync(join(image.root, "licenses/node/LICENSE"), "utf8").toLowerCase()
    for (const { name, type, licenses = [] } of components) {
      if (type === "operating-system") continue
      const [expression = ""] = licenses.map(({ expression, license }) => expression ?? license?.id)
      for (const term of expression.split(" AND ")) expect(label.split(" AND "), name).toContain(term)
      const own = files.some((file) => file.startsWith(`/licenses/${name}/`))
      expect(own || withoutText.includes(name) || ofNode.includes(`\n- ${name}, located at`), name).toBe(true)
    }
    for (const name of [manifest.name, "node"]) expect(files).toContain(`/licenses/${name}/LICENSE`)
    const copyright = (name: string) => readFileSync(join(image.root, "licenses", name, "copyright"), "utf8")
    expect(copyright("libc6")).toContain("GNU Lesser General Public")
    for (const name of ["libgcc-s1", "libstdc++6"]) expect(copyright(name)).toContain("GCC RUNTIME LIBRARY EXCEPTION")
  })
})
