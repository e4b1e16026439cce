/** Vitest's `globalSetup`: one cluster for all test files, which find it by `inject("cluster")`. */
import type { TestProject } from "vitest/node"

import { buildNodeParts } from "./build.ts"
import { Cluster } from "./Cluster.ts"
import { imageNames, registrarImage } from "./images.ts"
import { checkPrerequisites } from "./prerequisites.ts"

export interface RunningCluster {
  /** The node's PID 1, as this machine counts. */
  readonly pid: number
  /** What configuration.ts lays out. */
  readonly folder: string
  /** The folder of Kubernetes' programs. */
  readonly kubernetes: string
  /** The folder of the Prometheus Operator's definitions. */
  readonly monitoring: string
}

declare module "vitest" {
  export interface ProvidedContext {
    cluster: RunningCluster
  }
}

export default async (project: TestProject): Promise<() => Promise<void>> => {
  checkPrerequisites()
  const registrar = registrarImage()
  const { kubernetes, pause, pauseImage, driverImage, monitoring } = buildNodeParts()
  const cluster = await Cluster.start({
    kubernetes,
    pause,
    images: {
      [imageNames.pause]: pauseImage,
      [imageNames.driver]: driverImage,
      [imageNames.registrar]: registrar
    }
  })
  project.provide("cluster", { pid: cluster.pid, folder: cluster.paths.folder, kubernetes, monitoring })
  return () => cluster.stop()
}
