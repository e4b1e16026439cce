/**
 * A pod that was written for upstream's registrar works as it is with our image: arguments, mounts, probe and context of
 * deployments of test/fixtures/deployments.jsonl, one for each way in which such a pod is written.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect } from "vitest"

import { imageNames } from "./images.ts"
import { type Options, registrarName } from "./manifests.ts"
import type { Container, Probe } from "./objects.ts"
import { answers } from "./waits.ts"
import { it } from "./World.ts"

interface Deployment {
  readonly project: string
  readonly args: ReadonlyArray<string>
  /** Where the whole command line is in the command. */
  readonly entrypoint?: ReadonlyArray<string>
  readonly probe: {
    readonly http?: { readonly path: string; readonly port: number; readonly host?: string }
    readonly exec?: ReadonlyArray<string>
    readonly delay?: number
    readonly period?: number
    readonly timeout?: number
    readonly fail?: number
  } | null
  readonly ctx: {
    readonly hostNetwork?: boolean
    readonly hostPID?: boolean
    readonly privileged?: boolean
    readonly ro?: boolean
    readonly drop?: ReadonlyArray<string>
    readonly uid?: number
    readonly cpu?: string
    readonly mem?: string
  } | null
}

/** By a piece of the path of the driver's socket, of which the driver's name is made too. */
const chosen = {
  "cinder.csi.openstack.org": "no probe, host's network",
  "smb.csi.k8s.io": "HTTP on the host's loopback, privileged, read-only root",
  "rawfile-csi": "--health-port, limits of CPU and memory",
  "file.csi.azure.com": "exec probe on the host's network",
  "s3.csi.aws.com": "exec probe among the host's processes, read-only root",
  "csi-nfsplugin": "HTTP on `localhost`, no capabilities",
  "rbd.csi.ceph.com": "another folder of the kubelet, no capabilities, uid 0",
  "rel-node": "unix:// before the address, privileged",
  "topolvm.io": "all words in the command, the host's path in the container",
  "csi.hetzner.cloud": "no address",
  "csi.spiffe.io": "flags and values in words of their own",
  "csi-hostpath": "Kubernetes' own end-to-end tests"
}

const deployments = readFileSync(join(import.meta.dirname, "../fixtures/deployments.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Deployment)

const valueOf = (words: ReadonlyArray<string>, name: string): string | undefined => {
  const at = words.findIndex((word) => word.replace(/^--?/, "").split("=", 1)[0] === name)
  const word = words[at]
  if (word === undefined) return undefined
  return word.includes("=") ? word.slice(word.indexOf("=") + 1) : words[at + 1]
}

const wordsOf = ({ args, entrypoint = [] }: Deployment) => [...entrypoint, ...args]

const livenessProbe = ({ probe }: Deployment): Probe | undefined =>
  probe === null
    ? undefined
    : {
        httpGet: probe.http,
        exec: probe.exec && { command: probe.exec },
        initialDelaySeconds: probe.delay,
        periodSeconds: probe.period,
        timeoutSeconds: probe.timeout,
        failureThreshold: probe.fail
      }

const container = (deployment: Deployment): Container => {
  const { args, entrypoint, ctx } = deployment
  return {
    name: registrarName,
    image: imageNames.registrar,
    imagePullPolicy: "Never",
    command: entrypoint,
    args,
    livenessProbe: livenessProbe(deployment),
    securityContext: {
      privileged: ctx?.privileged,
      readOnlyRootFilesystem: ctx?.ro,
      capabilities: ctx?.drop && { drop: ctx.drop },
      runAsUser: ctx?.uid
    },
    resources: { limits: { cpu: ctx?.cpu, memory: ctx?.mem } }
  }
}

const options = (deployment: Deployment): Options => {
  const words = wordsOf(deployment)
  const { hostNetwork, hostPID } = deployment.ctx ?? {}
  return {
    socket: {
      host: valueOf(words, "kubelet-registration-path") ?? "",
      container: (valueOf(words, "csi-address") ?? "/run/csi/socket").replace(/^unix:\/\//, "")
    },
    registrar: container(deployment),
    pod: { hostNetwork, hostPID }
  }
}

const cases = Object.entries(chosen).map(([driver, way]) => {
  const deployment = deployments.find((each) =>
    valueOf(wordsOf(each), "kubelet-registration-path")?.includes(`/${driver}/`)
  )
  if (deployment === undefined) throw new Error(`no deployment of ${driver}`)
  return [`${deployment.project}: ${way}`, driver, deployment] as const
})

describe.concurrent("registered, and healthy by its own probe:", () => {
  it.for(cases)("%s", async ([, name, deployment], { world }) => {
    const driver = await world.driver(name, options(deployment))

    await driver.registered()

    const pod = await driver.ready()
    const { http, exec } = deployment.probe ?? {}
    if (http !== undefined) {
      await answers("200 ok", () => world.fetch(`http://${http.host ?? pod.address}:${http.port}${http.path}`))
    }
    if (exec !== undefined) {
      expect(await world.exec(pod, registrarName, ...exec)).toMatchObject({
        stderr: expect.stringContaining('"Probe succeeded" state="registered"')
      })
    }
    expect(driver.restarts()).toBe(0)
  })
})
