/**
 * Claim: what deploy/ renders to is a pod in which this registrar runs, registers and is probed as it should be, on every kubelet root that has an overlay
 * and with every set of components. The objects are those of test/deploy/kustomize.ts.
 */
import { Socket } from "node:net"
import * as path from "node:path"

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { defaults } from "../../src/machine/policies.ts"
import { decide } from "../../src/services/flags/decide.ts"
import { httpAddress, readFlags, type Settings } from "../../src/services/flags/Flags.ts"
import { makeRoutes } from "../../src/services/http/routes.ts"
import { Klog } from "../../src/services/Klog.ts"
import * as lines from "../../src/services/log/catalogue.ts"
import { Status } from "../../src/services/Status.ts"
import { release, version } from "../../src/version.ts"
import { makeFakeRegistrationServer } from "../fakes/FakeRegistrationServer.ts"
import { makeGate } from "../fakes/Gate.ts"
import { makeFakeLog } from "../fakes/World.ts"
import { type Container, type DaemonSet, folders, render } from "./kustomize.ts"

const program = "/csi-node-driver-registrar"
const imageName = "csi-node-driver-registrar"
const standardRoot = "/var/lib/kubelet"
/** How long src/services/probe/probe.ts waits for an answer. */
const probeSeconds = 10

/** What the kubelet makes of `$(NAME)`: values of the container's `env`, and in an exec probe only the plain ones. A name that is not known stays. */
const expanded = ({ env = [] }: Container, words: ReadonlyArray<string>) =>
  words.map((word) =>
    word.replace(/\$\((\w+)\)/g, (all, name) => env.find((variable) => variable.name === name)?.value ?? all)
  )

const settingsOf = (words: ReadonlyArray<string>): Settings => {
  const read = readFlags(words, program)
  if (read.kind !== "run") throw new Error(read.stderr)
  return read.settings
}

/** Everything that is looked at, of one rendered folder. */
interface Pod {
  readonly registrar: Container
  readonly driver: Container
  readonly settings: Settings
  readonly object: DaemonSet
  readonly hostPathOf: (container: Container, mountPath: string) => { readonly path: string; readonly type: string }
  /** That of the kubelet. */
  readonly root: string
}

const podOf = (folder: string, components: ReadonlyArray<string>): Pod => {
  const [object, ...more] = render(folder, components)
  if (object === undefined || more.length > 0) throw new Error(`${folder} is not one object`)
  const { containers, volumes } = object.spec.template.spec
  const isOurs = ({ image }: Container) => image.replace(/^.*\//, "").replace(/:.*$/, "") === imageName
  const [registrar] = containers.filter(isOurs)
  const [driver] = containers.filter((container) => !isOurs(container))
  if (registrar === undefined || driver === undefined || containers.length !== 2) throw new Error(`${folder}: pod?`)
  const hostPathOf: Pod["hostPathOf"] = (container, mountPath) => {
    const mount = container.volumeMounts.find((each) => each.mountPath === mountPath)
    const volume = volumes.find(({ name }) => name === mount?.name)
    if (volume === undefined) throw new Error(`${container.name} has no volume at ${mountPath}`)
    return volume.hostPath
  }
  const settings = settingsOf(expanded(registrar, registrar.args))
  const root = path.dirname(hostPathOf(registrar, settings.pluginRegistrationPath).path)
  return { registrar, driver, settings, object, hostPathOf, root }
}

const components = folders("Component")
const subsetsOf = ([first, ...rest]: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  first === undefined ? [[]] : subsetsOf(rest).flatMap((set) => [set, [first, ...set]])
const subsets = subsetsOf(components)
const pods = folders("Kustomization").flatMap((folder) =>
  subsets.map((set) => [[folder, ...set].join(" + "), podOf(folder, set)] as const)
)

const probesOf = ({ registrar }: Pod) =>
  [
    ["liveness", registrar.livenessProbe],
    ["readiness", registrar.readinessProbe]
  ] as const

it("there is a base, overlays and components", () => {
  assert.include(folders("Kustomization"), "base")
  assert.isAtLeast(folders("Kustomization").length, 6)
  assert.isAtLeast(components.length, 2)
})

describe.each(pods)("%s", (_, pod) => {
  const { registrar, driver, settings, object, hostPathOf, root } = pod

  it("runs without a word of warning", () => {
    const decision = decide(settings, program, release, "linux")
    assert.equal(decision.kind, "run")
    assert.deepEqual(
      decision.entries.map(({ line }) => line),
      [lines.version, lines.running]
    )
  })

  it("has the image of this version", () => assert.equal(registrar.image.split(":").at(-1), version))

  it("tells the kubelet the path at which the host has the driver's socket", () => {
    const folder = hostPathOf(registrar, path.dirname(settings.csiAddress))
    assert.equal(path.join(folder.path, path.basename(settings.csiAddress)), settings.kubeletRegistrationPath)
    assert.deepEqual(folder, hostPathOf(driver, path.dirname(settings.csiAddress)))
    assert.include(expanded(driver, driver.args), `--endpoint=unix://${settings.csiAddress}`)
  })

  it("makes the driver's folder, and insists on the kubelet's", () => {
    assert.equal(hostPathOf(registrar, path.dirname(settings.csiAddress)).type, "DirectoryOrCreate")
    assert.deepEqual(hostPathOf(registrar, settings.pluginRegistrationPath), {
      path: path.join(root, "plugins_registry"),
      type: "Directory"
    })
  })

  it("knows one kubelet root only, and the driver sees it at the same path", () => {
    const paths = JSON.stringify(object).match(/\/[^"]*\/kubelet\b[^"]*/g) ?? []
    assert.isAbove(paths.length, 3)
    for (const each of paths) assert.isTrue(`${each}/`.startsWith(`${root}/`), each)
    assert.equal(hostPathOf(driver, root).path, root)
    assert.equal(driver.volumeMounts.find(({ mountPath }) => mountPath === root)?.mountPropagation, "Bidirectional")
  })

  it("asks no more than it needs", () => {
    assert.deepEqual(registrar.securityContext, {
      runAsUser: 0,
      runAsGroup: 0,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" }
    })
    assert.deepInclude(object.spec.template.spec, { automountServiceAccountToken: false })
    assert.sameMembers(
      registrar.volumeMounts.map(({ mountPath }) => mountPath),
      [path.dirname(settings.csiAddress), settings.pluginRegistrationPath]
    )
  })

  it("fits its limits, and is not throttled", () => {
    const { requests, limits } = registrar.resources ?? { requests: {}, limits: {} }
    const mebibytes = (quantity = "") => Number(/^(\d+)Mi$/.exec(quantity)?.[1])
    assert.isAtLeast(mebibytes(limits.memory), 32)
    assert.isAtMost(mebibytes(requests.memory), mebibytes(limits.memory))
    assert.notProperty(limits, "cpu")
  })

  it("shows the reason of an exit", () => assert.equal(registrar.terminationMessagePolicy, "FallbackToLogsOnError"))

  it("needs no patience at the start", () => {
    assert.isUndefined(registrar.startupProbe)
    for (const [, probe] of probesOf(pod)) assert.isUndefined(probe?.initialDelaySeconds)
  })

  it("reserves no port, since the second pod of an update could not have it", () => {
    for (const container of [registrar, driver]) assert.isUndefined(container.ports)
  })

  it("updates by surge or by absence", () => {
    const { maxSurge = 0, maxUnavailable } = object.spec.updateStrategy.rollingUpdate
    assert.equal([maxSurge, maxUnavailable].filter((limit) => limit === 0).length, 1)
  })

  const http = probesOf(pod).flatMap(([kind, { httpGet, timeoutSeconds = 1 } = {}]) =>
    httpGet === undefined ? [] : [{ kind, httpGet, timeoutSeconds }]
  )
  const exec = probesOf(pod).flatMap(([kind, { exec, timeoutSeconds = 1 } = {}]) =>
    exec === undefined ? [] : [{ kind, command: exec.command, timeoutSeconds }]
  )

  it("has both probes, over HTTP where it listens and without where it does not", () => {
    const listens = httpAddress(settings) !== ""
    assert.deepEqual([http.length, exec.length], listens ? [2, 0] : [0, 2])
  })

  for (const { kind, httpGet, timeoutSeconds } of http) {
    it.effect(`${kind}: asks a path that is served, and a driver that is late is alive and not ready`, () =>
      Effect.gen(function* () {
        const route = (yield* makeRoutes).get(httpGet.path)
        assert.isDefined(route)
        const target = { raw: httpGet.path, path: httpGet.path, query: "" }
        const answer = yield* route!({ method: "GET", headers: {}, target }, new Socket())
        assert.equal(answer.status, kind === "liveness" ? 200 : 503)
      }).pipe(
        Effect.provide(
          Layer.mergeAll(Klog.layer(makeFakeLog().log), makeFakeRegistrationServer(makeGate()).layer, Status.layer())
        )
      )
    )
    it(`${kind}: at the address that is listened on, with more patience than the self-check`, () => {
      assert.isUndefined(object.spec.template.spec.hostNetwork)
      assert.equal(httpAddress(settings), `:${httpGet.port}`)
      assert.isAbove(timeoutSeconds * 1_000, settings.callTimeoutMs)
      assert.equal(settings.callTimeoutMs, defaults.callTimeoutMs)
    })
  }

  for (const { kind, command, timeoutSeconds } of exec) {
    it(`${kind}: is a probe of this registrar, with more patience than the probe has`, () => {
      const [first, ...words] = expanded(registrar, command)
      const asked = settingsOf(words)
      assert.equal(first, program)
      assert.equal(decide(asked, program, release, "linux").kind, "probe")
      assert.equal(asked.probe, kind === "liveness" ? "alive" : "registered")
      assert.equal(asked.kubeletRegistrationPath, settings.kubeletRegistrationPath)
      assert.isAbove(timeoutSeconds, probeSeconds)
    })
  }
})

/** With what does not matter put into order, and another root put back. */
const normal = ({ object, root }: Pod) => {
  const text = JSON.stringify(object, (key, value) =>
    key === "volumeMounts" ? [...value].sort((a, b) => (a.name < b.name ? -1 : 1)) : value
  )
  return JSON.parse(text.replaceAll(root, standardRoot))
}

const rootOverlays = folders("Kustomization").filter((folder) => podOf(folder, []).root !== standardRoot)

it.each(rootOverlays.flatMap((folder) => subsets.map((set) => [folder, set] as const)))(
  "%s changes the kubelet's root and nothing else, beside %j",
  (folder, set) => assert.deepEqual(normal(podOf(folder, set)), normal(podOf("base", set)))
)

it("each has a root of its own", () => {
  const roots = rootOverlays.map((folder) => podOf(folder, []).root)
  assert.equal(new Set(roots).size, roots.length)
  assert.isAtLeast(roots.length, 4)
})

it("components/exec-probes takes the endpoint from the arguments, and nothing else", () => {
  const isEndpoint = (word: string) => word.startsWith("--http-endpoint=")
  assert.deepEqual(
    podOf("base", ["components/exec-probes"]).registrar.args,
    podOf("base", []).registrar.args.filter((word) => !isEndpoint(word))
  )
})

it("overlays/surge surges, and has no port to quarrel about", () => {
  const { object, settings } = podOf("overlays/surge", [])
  assert.equal(object.spec.updateStrategy.rollingUpdate.maxSurge, 1)
  assert.equal(httpAddress(settings), "")
})
