/**
 * Pins the Go peers to a kubelet release:
 *
 *   node test/kubelet/goMod.ts 1.36.3 --default   writes go.mod and go.sum
 *   node test/kubelet/goMod.ts 1.37.2             writes releases/1.37.2.mod and .sum, used with REGISTRAR_KUBELET=1.37.2
 *
 * k8s.io/kubernetes requires its staging modules at v0.0.0 and replaces them by folders of its own, and a replacement does
 * not travel to the importer. So each of them, read from that release's own go.mod, is replaced here by the published
 * module of the same release. Only this step asks a module proxy for versions; builds take what is pinned.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const folder = import.meta.dirname

const go = (...args: Array<string>) => execFileSync("go", args, { cwd: folder, encoding: "utf8" })

const stagingModules = (release: string): Array<string> => {
  const { GoMod } = JSON.parse(go("mod", "download", "-json", `k8s.io/kubernetes@v${release}`)) as { GoMod: string }
  return [...readFileSync(GoMod, "utf8").matchAll(/^\s*(k8s\.io\/\S+) => \.\/staging\//gm)].map(([, name = ""]) => name)
}

const goMod = (release: string, modules: Array<string>) => {
  const published = release.replace(/^1\./, "v0.")
  return `module registrar-peers

go 1.26

require k8s.io/kubernetes v${release}

replace (
${modules.map((name) => `\t${name} => ${name} ${published}`).join("\n")}
)
`
}

if (import.meta.main) {
  const [release = "", ...flags] = process.argv.slice(2)
  if (!/^1\.\d+\.\d+$/.test(release)) {
    throw new Error(`expected a Kubernetes release such as 1.36.3, got "${release}"`)
  }
  const modules = stagingModules(release)
  const name = flags.includes("--default") ? "go" : `releases/${release}`
  mkdirSync(join(folder, "releases"), { recursive: true })
  rmSync(join(folder, `${name}.sum`), { force: true })
  writeFileSync(join(folder, `${name}.mod`), goMod(release, modules))
  go("mod", "tidy", `-modfile=${name}.mod`)
}
