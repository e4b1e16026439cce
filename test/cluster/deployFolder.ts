/** The manifests of deploy/, as an API server understands them, and on the node of this suite. */
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { imageNames } from "./images.ts"
import { driverContainer, namespace, registrarName } from "./manifests.ts"
import type { Container, DaemonSet } from "./objects.ts"
import type { World } from "./World.ts"

const root = join(import.meta.dirname, "../../deploy")

/** What the manifests call their driver. */
export const exampleDriver = "hostpath.csi.example.com"

/** A component renders nothing by itself; it is taken with the kustomizations that name it. */
const isComponent = (file: string) => /^kind: Component$/m.test(readFileSync(join(root, file), "utf8"))

/** Every kustomization, by its folder. */
export const kustomizations: ReadonlyArray<string> = globSync("**/kustomization.yaml", { cwd: root })
  .filter((file) => !isComponent(file))
  .map((file) => dirname(file))
  .sort()

/** What the server would store: fields that it does not know are refused, and its defaults are filled in. */
export const render = async (world: World, folder: string): Promise<DaemonSet> => {
  const kustomization = `--kustomize=${join(root, folder)}`
  const { stdout } = await world.kubectl("apply", "--server-side", "--dry-run=server", "--output=json", kustomization)
  return JSON.parse(stdout) as DaemonSet
}

/** The objects of the Prometheus Operator. */
export const monitoringFiles: ReadonlyArray<string> = globSync("monitoring/*.yaml", { cwd: root })
  .map((file) => join(root, file))
  .sort()

/** With the image under test, and a driver that this suite has an image of; our container is changed by `adapt` only. */
export const onThisNode = (
  { spec }: DaemonSet,
  adapt: (container: Container) => Container = (same) => same
): DaemonSet => {
  const { template } = spec
  const labels = { app: exampleDriver }
  const registrar = template.spec.containers.find(({ name }) => name === registrarName)
  if (registrar === undefined) throw new Error(`no container is called ${registrarName}`)
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: exampleDriver, namespace },
    spec: {
      ...spec,
      selector: { matchLabels: labels },
      template: {
        ...template,
        metadata: { labels },
        spec: {
          ...template.spec,
          containers: [
            adapt({ ...registrar, image: imageNames.registrar, imagePullPolicy: "Never" }),
            driverContainer(exampleDriver, "/csi/csi.sock", [])
          ]
        }
      }
    }
  }
}
