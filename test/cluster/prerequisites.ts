/** What the machine has to have, said before anything is built: a suite that is left out in silence proves nothing. */
import { accessSync, constants } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"

import { cniPlugins } from "./configuration.ts"

/** Command or file → the package of Debian that has it. */
const packages: Readonly<Record<string, string>> = {
  [cniPlugins]: "containernetworking-plugins",
  buildah: "buildah",
  containerd: "containerd",
  "containerd-shim-runc-v2": "containerd",
  ctr: "containerd",
  etcd: "etcd-server",
  ip: "iproute2",
  mount: "mount",
  nsenter: "util-linux",
  runc: "runc",
  setpriv: "util-linux",
  unshare: "util-linux"
}

export class PrerequisitesMissingError extends Error {
  override readonly name = "PrerequisitesMissingError"
  constructor(missing: ReadonlyArray<string>) {
    super(`the suite on a real Kubernetes node needs ${missing.join("; ")}`)
  }
}

const isExecutable = (file: string) => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const isThere = (command: string) =>
  isAbsolute(command)
    ? isExecutable(command)
    : (process.env.PATH ?? "").split(delimiter).some((folder) => isExecutable(join(folder, command)))

/** Throws one line that says all that is missing. */
export const checkPrerequisites = (): void => {
  const missing: Array<string> = []
  if (process.platform !== "linux") missing.push(`Linux (this is ${process.platform})`)
  if (process.getuid?.() !== 0) missing.push("root, for namespaces and containers")
  if (!isThere("go")) missing.push("Go on PATH, the version of test/cluster/go.mod or later (https://go.dev/dl)")
  const wanted = Object.entries(packages).flatMap(([command, name]) => (isThere(command) ? [] : [name]))
  if (wanted.length > 0) {
    missing.push(`apt-get install --no-install-recommends ${[...new Set(wanted)].sort().join(" ")}`)
  }
  if (missing.length > 0) throw new PrerequisitesMissingError(missing)
}
