/**
 * Pins the programs of the node to the Kubernetes release of the suite against kubelet code: `node test/cluster/goMod.ts`,
 * after test/kubelet/goMod.ts.
 *
 * The release and the replacements of its staging modules are read from test/kubelet/go.mod, so that there is one place for
 * them. Only this step asks a module proxy for versions; builds take what is pinned.
 */
import { execFileSync } from "node:child_process"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const folder = import.meta.dirname

/** The programs of Kubernetes that a node and its control plane need. */
const programs = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet"]

const goMod = (pinned: string) => {
  const [release] = /k8s\.io\/kubernetes v\S+/.exec(pinned) ?? []
  const [replacements] = /^replace \([^)]*\)$/m.exec(pinned) ?? []
  if (release === undefined || replacements === undefined) {
    throw new Error("test/kubelet/go.mod names no release of k8s.io/kubernetes, or no replacements")
  }
  return `module registrar-cluster

go 1.26

tool (
${programs.map((name) => `\tk8s.io/kubernetes/cmd/${name}`).join("\n")}
)

require ${release}

${replacements}
`
}

if (import.meta.main) {
  rmSync(join(folder, "go.sum"), { force: true })
  writeFileSync(join(folder, "go.mod"), goMod(readFileSync(join(folder, "../kubelet/go.mod"), "utf8")))
  execFileSync("go", ["mod", "tidy"], { cwd: folder, stdio: "inherit" })
}
