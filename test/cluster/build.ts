/**
 * Builds what the node consists of: `node test/cluster/build.ts`.
 *
 * Kubernetes' own programs, the images of the pods beside our registrar, and the definitions of the Prometheus Operator go to folders of `.cache/peers`, or of
 * `REGISTRAR_PEER_CACHE`; their names stand for all that they are made from, and what is there already is used. Modules and
 * compiled packages come from Go's own caches: the first build on a machine takes some eight minutes, later ones seconds.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"

import { buildImage } from "./buildImage.ts"

const folder = import.meta.dirname
const defaultCache = join(folder, "../../.cache/peers")

/** Part of each key, so that a change of how something is made makes it anew. */
const recipe = "1"

const monitoringTypes = "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"

const driverArchive = "driver.oci.tar"
const pauseArchive = "pause.oci.tar"

export interface NodeParts {
  /** The folder of kubelet, kubectl, kube-apiserver, kube-controller-manager and kube-scheduler. */
  readonly kubernetes: string
  /** A program that reaps and does nothing else. */
  readonly pause: string
  /** OCI archives. */
  readonly pauseImage: string
  readonly driverImage: string
  /** The folder of the Prometheus Operator's definitions of its objects. */
  readonly monitoring: string
}

const goIn = (cwd: string, ...args: Array<string>): string =>
  execFileSync("go", args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    // Static programs, since two of them are all there is in their image.
    env: { ...process.env, CGO_ENABLED: "0" }
  })

const go = (...args: Array<string>): string => goIn(folder, ...args)

const sha256 = (...words: ReadonlyArray<string>) => {
  const hash = createHash("sha256")
  for (const word of words) hash.update(word).update("\0")
  return hash.digest("hex").slice(0, 16)
}

/** Makes the folder unless it is there. Several may do so at once: it becomes visible whole, by a rename. */
const cached = (name: string, make: (unfinished: string) => void): string => {
  const cache = process.env.REGISTRAR_PEER_CACHE ?? defaultCache
  const directory = join(cache, name)
  if (existsSync(directory)) return directory
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(join(cache, ".unfinished-"))
  try {
    make(unfinished)
    renameSync(unfinished, directory)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(directory)) throw error
  }
  return directory
}

const kubernetesRelease = (goMod: string): string => /k8s\.io\/kubernetes v(\S+)/.exec(goMod)?.[1] ?? "unknown"

/** The programs say of which release they are, as released ones do; the API server compares it with the kubelet's. */
const linkerFlags = (release: string) => {
  const [major, minor] = release.split(".")
  const version = "k8s.io/component-base/version"
  const values = { gitVersion: `v${release}`, gitMajor: major, gitMinor: minor }
  return ["-s", "-w", ...Object.entries(values).map(([name, value]) => `-X ${version}.${name}=${value}`)].join(" ")
}

/** Builds what is not there yet. */
export const buildNodeParts = (): NodeParts => {
  const goMod = readFileSync(join(folder, "go.mod"), "utf8")
  const goSum = readFileSync(join(folder, "go.sum"), "utf8")
  const goVersion = go("version")
  const sources = globSync("{driver,pause}/*.go", { cwd: folder }).sort()
  const sourceTexts = sources.map((file) => readFileSync(join(folder, file), "utf8"))

  const release = kubernetesRelease(goMod)
  const build = ["build", "-mod=readonly"]
  const kubernetes = cached(`kubernetes-${release}-${sha256(recipe, goVersion, goMod, goSum)}`, (unfinished) => {
    go(...build, `-ldflags=${linkerFlags(release)}`, "-o", `${unfinished}/`, "tool")
  })
  const images = cached(`images-${sha256(recipe, goVersion, goMod, goSum, ...sourceTexts)}`, (unfinished) => {
    go(...build, "-ldflags=-s -w", "-o", `${unfinished}/`, "./driver", "./pause")
    for (const [name, archive] of [["driver", driverArchive] as const, ["pause", pauseArchive] as const]) {
      buildImage({ program: join(unfinished, name), archive: join(unfinished, archive) })
    }
  })
  const monitoringModule = join(folder, "monitoring")
  const monitoringPins = ["go.mod", "go.sum"].map((file) => readFileSync(join(monitoringModule, file), "utf8"))
  const monitoring = cached(`monitoring-${sha256(recipe, goVersion, ...monitoringPins)}`, (unfinished) => {
    goIn(monitoringModule, "tool", "controller-gen", "crd", `paths=${monitoringTypes}`, `output:crd:dir=${unfinished}`)
  })
  return {
    kubernetes,
    monitoring,
    pause: join(images, "pause"),
    pauseImage: join(images, pauseArchive),
    driverImage: join(images, driverArchive)
  }
}

if (import.meta.main) {
  console.log(buildNodeParts())
}
