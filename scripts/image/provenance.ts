// Prints the provenance of the image, a predicate of SLSA 1.0 for `cosign attest --type slsaprovenance1`: by whom it was built, how, and of what.
//
//   node scripts/image/provenance.ts --source=URL --builder=URL
//
// --source is the repository without its `git+`, --builder stands for whoever vouches for the machine.
import { readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"

import { PackageURL } from "packageurl-js"

import { commit } from "../build.ts"
import { archs, platforms } from "../platforms.ts"
import { ScriptError, script } from "../tools.ts"
import { pinsOf } from "./debian.ts"

const root = resolve(import.meta.dirname, "../..")

interface Dependency {
  readonly uri: string
  readonly digest: Readonly<Record<string, string>>
}

/** All that npm installs for the build, of both architectures. */
const ofNpm = async (): Promise<ReadonlyArray<Dependency>> => {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"))
  return Object.entries<{ version: string; integrity?: string }>(lock.packages).flatMap(
    ([path, { version, integrity }]) => {
      const name = path.split("node_modules/").at(-1)
      if (name === undefined || !integrity?.startsWith("sha512-")) return []
      const slash = name.lastIndexOf("/")
      const uri = new PackageURL(
        "npm",
        name.slice(0, Math.max(slash, 0)),
        name.slice(slash + 1),
        version,
        undefined,
        undefined
      )
      return [{ uri: uri.toString(), digest: { sha512: Buffer.from(integrity.slice(7), "base64").toString("hex") } }]
    }
  )
}

const ofDebian = (): ReadonlyArray<Dependency> =>
  archs.flatMap((arch) =>
    Object.entries(pinsOf(arch)).map(([name, { version, sha256 }]) => {
      const uri = new PackageURL("deb", "debian", name, version, { arch: platforms[arch].debian }, undefined)
      return { uri: uri.toString(), digest: { sha256 } }
    })
  )

if (import.meta.main) {
  const { values } = parseArgs({ options: { source: { type: "string" }, builder: { type: "string" } } })
  await script(async () => {
    const { source, builder } = values
    if (source === undefined || builder === undefined)
      throw new ScriptError("--source=URL and --builder=URL are needed")
    const revision = commit()
    if (!/^[0-9a-f]{40}$/.test(revision)) {
      throw new ScriptError(`${revision}: only what is made of a commit, and of nothing else, has a provenance`)
    }
    const repository = { uri: `git+${source}@${revision}`, digest: { gitCommit: revision } }
    const predicate = {
      buildDefinition: {
        buildType: `${source}/blob/${revision}/docs/releasing.md#build`,
        externalParameters: { source: repository.uri, command: "npm ci && npm run build:image" },
        internalParameters: {},
        resolvedDependencies: [repository, ...(await ofNpm()), ...ofDebian()]
      },
      runDetails: { builder: { id: builder } }
    }
    console.log(JSON.stringify(predicate, null, 2))
  })
}
