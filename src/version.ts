/** What this program is: put in by the build. */
import manifest from "../package.json" with { type: "json" }

export interface Release {
  /** That of package.json, with a `v`. */
  readonly version: string
  /** The commit that was built, "unknown" when the sources came without their repository. */
  readonly commit: string
  readonly node: string
  /** The release of kubernetes-csi/node-driver-registrar whose flags, lines and exit codes are ours. */
  readonly compatible: string
}

export const version = `v${manifest.version}`

export const release: Release = {
  version,
  commit: process.env.REGISTRAR_COMMIT ?? "unknown",
  node: process.version,
  compatible: "v2.17.0"
}

/** What `--version` prints. The first line is upstream's, since scripts read it. */
export const versionText = (argv0: string, { version, commit, node, compatible }: Release): string =>
  `${argv0} ${version}
commit ${commit}
node ${node}
compatible with kubernetes-csi/node-driver-registrar ${compatible}
`
