/**
 * What `kubectl kustomize` makes of a folder, as far as those of deploy/ need it, so that claims about them need no kubectl. Whatever it does not know it
 * refuses, so that it cannot be wrong in silence.
 */
import * as fs from "node:fs"
import * as path from "node:path"

import { parse } from "yaml"

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: number; readonly host?: string }
  readonly exec?: { readonly command: ReadonlyArray<string> }
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly args: ReadonlyArray<string>
  readonly env?: ReadonlyArray<{ readonly name: string; readonly value?: string }>
  readonly ports?: ReadonlyArray<unknown>
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly startupProbe?: Probe
  readonly resources?: { readonly requests: Record<string, string>; readonly limits: Record<string, string> }
  readonly terminationMessagePolicy?: string
  readonly securityContext?: Readonly<Record<string, unknown>>
  readonly volumeMounts: ReadonlyArray<{
    readonly name: string
    readonly mountPath: string
    readonly mountPropagation?: string
  }>
}

export interface DaemonSet {
  readonly kind: "DaemonSet"
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: {
    readonly updateStrategy: {
      readonly rollingUpdate: { readonly maxSurge?: unknown; readonly maxUnavailable: unknown }
    }
    readonly template: {
      readonly spec: {
        readonly hostNetwork?: boolean
        readonly automountServiceAccountToken?: boolean
        readonly containers: ReadonlyArray<Container>
        readonly volumes: ReadonlyArray<{
          readonly name: string
          readonly hostPath: { readonly path: string; readonly type: string }
        }>
      }
    }
  }
}

type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonMap
type JsonMap = { readonly [key: string]: Json }

interface Kustomization {
  readonly apiVersion: string
  readonly kind: "Kustomization" | "Component"
  readonly namespace?: string
  readonly resources?: ReadonlyArray<string>
  readonly components?: ReadonlyArray<string>
  readonly patches?: ReadonlyArray<{ readonly target: { readonly kind: string }; readonly path: string }>
  readonly images?: ReadonlyArray<{ readonly name: string; readonly newName?: string; readonly newTag?: string }>
}
const knownKeys = ["apiVersion", "kind", "namespace", "resources", "components", "patches", "images"]

export const deployFolder = path.resolve(import.meta.dirname, "../../deploy")

const fileName = "kustomization.yaml"

const read = (folder: string): Kustomization => {
  const kustomization: Kustomization = parse(fs.readFileSync(path.join(folder, fileName), "utf8"))
  const unknown = Object.keys(kustomization).filter((key) => !knownKeys.includes(key))
  if (unknown.length > 0) throw new Error(`${folder}: ${unknown.join(", ")} is more than is read here`)
  return kustomization
}

/** Of all folders below deploy/ that hold one of this kind, the path from there. */
export const folders = (kind: Kustomization["kind"]): ReadonlyArray<string> =>
  fs
    .readdirSync(deployFolder, { recursive: true, encoding: "utf8" })
    .filter((file) => path.basename(file) === fileName)
    .map(path.dirname)
    .filter((folder) => read(path.join(deployFolder, folder)).kind === kind)
    .sort()

/** The objects of a folder below deploy/, with components beyond its own put on top. */
export const render = (folder: string, components: ReadonlyArray<string> = []): ReadonlyArray<DaemonSet> =>
  components
    .reduce((objects, component) => apply(path.join(deployFolder, component), objects), load(folder))
    // Every object of deploy/ is one; the claims look at what is in it.
    .map((object) => object as unknown as DaemonSet)

const load = (folder: string) => apply(path.join(deployFolder, folder), [])

type Objects = ReadonlyArray<JsonMap>

const apply = (folder: string, before: Objects): Objects => {
  const { namespace, resources = [], components = [], patches = [], images = [] } = read(folder)
  const loaded = resources.flatMap((name): Objects => {
    const at = path.join(folder, name)
    return fs.statSync(at).isDirectory() ? apply(at, []) : [parse(fs.readFileSync(at, "utf8"))]
  })
  const composed = components.reduce<Objects>(
    (objects, name) => apply(path.join(folder, name), objects),
    before.concat(loaded)
  )
  const patched = patches.reduce<Objects>((objects, { path: file, target }) => {
    // What names the object in a patch is of no account when the patch has a target.
    const { apiVersion, kind, metadata, ...change }: JsonMap = parse(fs.readFileSync(path.join(folder, file), "utf8"))
    if (!objects.some((object) => object.kind === target.kind)) throw new Error(`${file} matches nothing`)
    return objects.map((object) => (object.kind === target.kind ? changed(object, change) : object))
  }, composed)
  const change: JsonMap = namespace === undefined ? {} : { metadata: { namespace } }
  return patched.map((object) => withImages(changed(object, change), images))
}

const changed = (object: JsonMap, change: JsonMap) => merge("", object, change) as JsonMap

/** Where a strategic merge takes lists apart, and by which key of the entries. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: "name",
  env: "name",
  volumes: "name",
  volumeMounts: "mountPath"
}

const isMap = (value: Json | undefined): value is JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Undefined when the patch takes the value away. */
const merge = (field: string, base: Json | undefined, patch: Json): Json | undefined => {
  if (isMap(patch)) {
    if (patch.$patch === "delete") return undefined
    if (patch.$patch !== undefined) throw new Error(`$patch: ${patch.$patch} is more than is read here`)
    const merged: Record<string, Json> = isMap(base) ? { ...base } : {}
    for (const [key, change] of Object.entries(patch)) {
      const value = merge(key, merged[key], change)
      if (value === undefined) delete merged[key]
      else merged[key] = value
    }
    return merged
  }
  const mergeKey = mergeKeys[field]
  if (!Array.isArray(patch) || !Array.isArray(base) || mergeKey === undefined) return patch ?? undefined
  const keyOf = (entry: Json) => (isMap(entry) ? entry[mergeKey] : undefined)
  const changeOf = (entry: Json) => patch.find((change) => keyOf(change) === keyOf(entry))
  const kept = base.flatMap((entry) => merge("", entry, changeOf(entry) ?? {}) ?? [])
  const added = patch.filter((change) => !base.some((entry) => keyOf(entry) === keyOf(change)))
  return [...kept, ...added.flatMap((entry) => merge("", undefined, entry) ?? [])]
}

const withImages = (object: JsonMap, images: NonNullable<Kustomization["images"]>): JsonMap => {
  const change = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(change)
    if (!isMap(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        key === "image" && typeof inner === "string" ? renamed(inner) : change(inner)
      ])
    )
  }
  const renamed = (image: string) => {
    const [, name = image, tag] = /^(.*?)(?::([^/:]+))?$/.exec(image) ?? []
    const wanted = images.find((each) => each.name === name)
    const newTag = wanted?.newTag ?? tag
    return `${wanted?.newName ?? name}${newTag === undefined ? "" : `:${newTag}`}`
  }
  return change(object) as JsonMap
}
