/** Claim: in the image lies what its program needs, the licences of all that, and nothing else; and it says what it is. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect, inject, it } from "vitest"

import manifest from "../../package.json" with { type: "json" }
import { commit } from "../../scripts/build.ts"
import { imageEnvironment } from "../../scripts/image/environment.ts"
import { librariesOf } from "../../scripts/image/libraries.ts"
import { archOf, archs, platforms } from "../../scripts/platforms.ts"
import { version } from "../../src/version.ts"
import { filesOf } from "./setup.ts"

const images = inject("images")
const program = "/csi-node-driver-registrar"

it("there is one image for each architecture", () => {
  expect(Object.keys(images).sort()).toEqual(archs.map((arch) => platforms[arch].debian).sort())
})

describe.each(Object.entries(images))("%s", (debian, image) => {
  const { config, root, listed } = image
  const files = filesOf(image)

  it("is run as upstream's is, and with little memory", () => {
    const { Labels, ...rest } = config.config
    expect(rest).toEqual({
      Entrypoint: [program],
      WorkingDir: "/",
      Env: Object.entries(imageEnvironment).map(([name, value]) => `${name}=${value}`)
    })
    expect(Labels.description).toBe("CSI Node driver registrar")
  })

  it("says what it was made of and when, by the date of the commit", () => {
    const label = (name: string) => config.config.Labels[`org.opencontainers.image.${name}`]
    expect(label("title")).toBe(manifest.name)
    expect(label("description")).toBe(manifest.description)
    expect(label("version")).toBe(version)
    expect(label("base.name")).toBe("scratch")
    // Files may have been changed since the build.
    expect(label("revision")?.replace(/-dirty$/, "")).toBe(commit().replace(/-dirty$/, ""))
    expect(new Date(label("created") ?? "")).toEqual(new Date(config.created))
    const times = new Set(listed.map((line) => / \d{4}-\d\d-\d\d \d\d:\d\d /.exec(line)?.[0]))
    expect(times.size).toBe(1)
  })

  it("holds the libraries that the program needs, and no others", async () => {
    const arch = archOf(debian)
    const libraries = await librariesOf(join(root, program), root, arch === undefined ? "" : platforms[arch].triplet)
    expect(files.filter((file) => /^\/(usr\/)?lib/.test(file)).sort()).toEqual(libraries.map(({ path }) => path).sort())
  })

  it("holds no other program, nothing that others may write to, and no file of anybody but root", () => {
    const folders = new Set(files.map((file) => file.split("/")[1]))
    const expected = ["csi-node-driver-registrar", "etc", "lib", "lib64", "licenses", "usr", "var"]
    expect(expected).toEqual(expect.arrayContaining([...folders]))
    for (const line of listed) expect(line).toMatch(/^[-d]rw[-x]r-[-x]r-[-x] 0\/0 /)
    const executable = files.filter((_, n) => listed.filter((line) => line.startsWith("-"))[n]?.includes("rwx"))
    expect(executable.filter((file) => !/\.so\b/.test(file))).toEqual([program])
  })

  it("tells scanners whose libraries these are", () => {
    expect(readFileSync(join(root, "etc/os-release"), "utf8")).toMatch(/^ID=debian\nVERSION_ID="12"$/m)
    for (const name of ["libc6", "libgcc-s1", "libstdc++6"]) {
      const text = readFileSync(join(root, "var/lib/dpkg/status.d", name), "utf8")
      expect(text).toContain(`Package: ${name}\n`)
      expect(text).toContain(`Architecture: ${debian}\n`)
    }
  })
})
