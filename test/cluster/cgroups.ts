/** Cgroups of the node's containers, which outlive their namespaces; in cgroup version 1 there is one of each in every hierarchy. */
import { existsSync, readdirSync, rmdirSync } from "node:fs"
import { join } from "node:path"

const root = "/sys/fs/cgroup"
/** Where containerd puts them. */
const parent = "k8s.io"

const parents = (): ReadonlyArray<string> =>
  ["", ...readdirSync(root)].map((hierarchy) => join(root, hierarchy, parent)).filter(existsSync)

/** Removes the groups of these containers, whose processes have ended, and those that held them unless others do so too. */
export const removeCgroupsOf = (containers: ReadonlyArray<string>): void => {
  for (const group of parents()) {
    for (const id of containers) {
      if (existsSync(join(group, id))) rmdirSync(join(group, id))
    }
    if (readdirSync(group, { withFileTypes: true }).every((entry) => !entry.isDirectory())) rmdirSync(group)
  }
}
