/**
 * Builds the Go peers of this suite: `node test/kubelet/build.ts`.
 *
 * They go to `<cache>/<key>/`, where the key stands for their sources, the pinned modules, the Go version and the kubelet
 * release; what is there already is used. The cache is `.cache/peers` of the repository, or `REGISTRAR_PEER_CACHE`.
 * The release is the one in go.mod, or `REGISTRAR_KUBELET`, one of those in releases/ (goMod.ts adds others).
 * Modules and compiled packages come from Go's own caches: the first build on a machine takes minutes, later ones seconds.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"

const folder = import.meta.dirname
const defaultCache = join(folder, "../../.cache/peers")

/** The built programs, by absolute path. */
export interface Peers {
  /** The kubelet's plugin manager and CSI registration handler. */
  readonly kubelet: string
  /** The CSI driver of Kubernetes' end-to-end tests. */
  readonly driver: string
  /** A registrar that knows its socket by name only. */
  readonly plainRegistrar: string
  /** The dial of a kubelet before 1.29. */
  readonly oldKubelet: string
  /** Prometheus' parser and linter. */
  readonly promlint: string
}

export class GoMissingError extends Error {
  override readonly name = "GoMissingError"
  constructor(options: ErrorOptions) {
    super(
      "Go is not installed, or not on PATH: the suite against real kubelet code builds its peers with the version named " +
        "in test/kubelet/go.mod or a later one (https://go.dev/dl). No other suite needs it.",
      options
    )
  }
}

export class PeersMissingError extends Error {
  override readonly name = "PeersMissingError"
  constructor(directory: string) {
    super(`${directory} does not exist; build the peers with: node test/kubelet/build.ts`)
  }
}

const go = (args: Array<string>, cwd = folder): string => {
  try {
    return execFileSync("go", args, {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      // As test/cluster builds its programs: most packages are then compiled once for both.
      env: { ...process.env, CGO_ENABLED: "0" }
    })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ENOENT" ? new GoMissingError({ cause: error }) : error
  }
}

const defaultRelease = () =>
  /k8s\.io\/kubernetes v(\S+)/.exec(readFileSync(join(folder, "go.mod"), "utf8"))?.[1] ?? "unknown"

/** The release of the kubelet code in the peer, such as 1.36.3. */
export const kubeletRelease = (): string => process.env.REGISTRAR_KUBELET ?? defaultRelease()

const releaseFlags = (): Array<string> => {
  const release = kubeletRelease()
  // The peer has one file for each change of the plugin manager's signatures, chosen by this tag.
  const tag = `kubelet_${release.split(".").slice(0, 2).join("_")}`
  return ["-tags", tag, ...(release === defaultRelease() ? [] : [`-modfile=releases/${release}.mod`])]
}

const outputDirectory = (): string => {
  const hash = createHash("sha256").update(`${go(["version"])}\0${kubeletRelease()}\0`)
  for (const file of globSync("**/*.{go,mod,sum}", { cwd: folder }).sort()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(folder, file)))
      .update("\0")
  }
  return join(process.env.REGISTRAR_PEER_CACHE ?? defaultCache, hash.digest("hex").slice(0, 16))
}

const peersIn = (directory: string): Peers => ({
  kubelet: join(directory, "peer"),
  driver: join(directory, "driver"),
  plainRegistrar: join(directory, "plain-registrar"),
  oldKubelet: join(directory, "old-kubelet"),
  promlint: join(directory, "promlint")
})

/** The peers as they were built; throws `PeersMissingError` when these sources have not been. */
export const builtPeers = (): Peers => {
  const directory = outputDirectory()
  if (!existsSync(directory)) {
    throw new PeersMissingError(directory)
  }
  return peersIn(directory)
}

/** Builds what is not there yet. Several may run at once: a build becomes visible whole, by a rename. */
export const buildPeers = (): Peers => {
  const directory = outputDirectory()
  if (!existsSync(directory)) {
    const cache = join(directory, "..")
    mkdirSync(cache, { recursive: true })
    const unfinished = mkdtempSync(join(cache, ".unfinished-"))
    try {
      const flags = ["-mod=readonly", "-ldflags=-s -w", "-o", `${unfinished}/`]
      go(["build", ...flags, ...releaseFlags(), "./peer", "./driver", "./plain-registrar", "./promlint"])
      go(["build", ...flags, "."], join(folder, "old-kubelet"))
      renameSync(unfinished, directory)
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true })
      if (!existsSync(directory)) {
        throw error
      }
    }
  }
  return peersIn(directory)
}

/** Vitest's `globalSetup`. */
export const setup = (): void => {
  buildPeers()
}

if (import.meta.main) {
  try {
    console.log(`kubelet ${kubeletRelease()}:`, buildPeers())
  } catch (error) {
    // Go has said on stderr what it could not build.
    console.error((error as Error).message)
    process.exitCode = 1
  }
}
