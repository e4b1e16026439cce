/**
 * The bill of materials of an image, in CycloneDX 1.6: the registrar, the packages of npm in its bundle, node and the libraries that are part of it, and
 * Debian's libraries. The same input gives the same bytes.
 */
import { createHash } from "node:crypto"

import { Factories } from "@cyclonedx/cyclonedx-library/Contrib/License"
import { ComponentType, ExternalReferenceType, HashAlgorithm, LifecyclePhase } from "@cyclonedx/cyclonedx-library/Enums"
import {
  Bom,
  Component,
  ExternalReference,
  ExternalReferenceRepository,
  HashDictionary,
  LicenseRepository,
  Metadata,
  type OptionalComponentProperties,
  Property,
  PropertyRepository
} from "@cyclonedx/cyclonedx-library/Models"
import { JSON as Json, JsonSerializer } from "@cyclonedx/cyclonedx-library/Serialize"
import { Spec1dot6 } from "@cyclonedx/cyclonedx-library/Spec"
import { PackageURL } from "packageurl-js"
import parseExpression from "spdx-expression-parse"

import library from "@cyclonedx/cyclonedx-library/package.json" with { type: "json" }

import manifest from "../../package.json" with { type: "json" }
import type { Locked } from "../binary/nodeOf.ts"
import { ScriptError } from "../tools.ts"
import type { BundledPackage } from "./bundled.ts"
import { type DebianPackage, debianRelease } from "./debian.ts"
import { type NodePart, nodeLicense, nodeParts, noParts } from "./nodeParts.ts"

export interface Materials {
  /** As Debian and OCI call it. */
  readonly arch: string
  readonly commit: string
  readonly date: Date
  readonly bundled: ReadonlyArray<BundledPackage>
  /** `process.versions` of the node in the image. */
  readonly versions: Readonly<Record<string, string | undefined>>
  /** The package that it comes from. */
  readonly nodePackage: Locked
  readonly debian: ReadonlyArray<DebianPackage>
}

const licenses = new Factories.LicenseFactory(parseExpression)

const component = (
  type: ComponentType,
  name: string,
  version: string,
  license: string,
  rest: OptionalComponentProperties = {}
) =>
  new Component(type, name, {
    version,
    licenses: new LicenseRepository([licenses.makeFromString(license)]),
    ...(rest.purl === undefined ? {} : { bomRef: rest.purl }),
    ...rest
  })

const purlOf = (path: string, version: string, qualifiers?: Record<string, string>): string => {
  const parts = path.split("/")
  const [type = "", name = ""] = [parts.shift(), parts.pop()]
  return new PackageURL(type, parts.join("/"), name, version, qualifiers, undefined).toString()
}

const cpeOf = (vendor: string, product: string, version: string): NonNullable<Component["cpe"]> =>
  `cpe:2.3:a:${vendor}:${product}:${/^[\d.]+/.exec(version)?.[0]}:*:*:*:*:*:*:*`

/** The libraries that are part of this node. */
export const partsOf = (versions: Materials["versions"]): ReadonlyArray<NodePart & { readonly version: string }> =>
  Object.entries(versions).flatMap(([key, version]) => {
    // Empty for a library that this node was built without.
    if (noParts.has(key) || version === undefined || version === "") return []
    const part = nodeParts[key]
    if (part === undefined)
      throw new ScriptError(`node has a new part, ${key}: tell of it in scripts/image/nodeParts.ts`)
    return [{ ...part, version }]
  })

/** One expression for all that is in the image. */
export const licenseOf = ({ bundled, versions, debian }: Materials): string => {
  const all = [
    manifest.license,
    nodeLicense,
    ...[...bundled, ...partsOf(versions), ...debian].map(({ license }) => license)
  ]
  const terms = all.flatMap((license) => (license.includes(" OR ") ? [`(${license})`] : license.split(" AND ")))
  return [...new Set(terms)].sort().join(" AND ")
}

const npmPackage = ({ name, version, license }: BundledPackage) =>
  component(ComponentType.Library, name, version, license, { purl: purlOf(`npm/${name}`, version) })

const partOfNode = ({
  name,
  version,
  license,
  purl,
  cpe,
  tag = (version) => version
}: ReturnType<typeof partsOf>[number]) =>
  component(ComponentType.Library, name, version, license, {
    purl: purlOf(purl, tag(version)),
    ...(cpe === undefined ? {} : { cpe: cpeOf(...cpe, version) })
  })

const node = ({ versions, nodePackage: { name, version, integrity } }: Materials) => {
  const [, digest = ""] = integrity.split("sha512-")
  const tarball = new ExternalReference(purlOf(`npm/${name}`, version), ExternalReferenceType.Distribution, {
    hashes: new HashDictionary([[HashAlgorithm["SHA-512"], Buffer.from(digest, "base64").toString("hex")]])
  })
  return component(ComponentType.Platform, "node", versions.node ?? "", nodeLicense, {
    description: "As released, but for symbols (stripped) and for the languages in ICU's data (English only)",
    purl: purlOf("generic/node", versions.node ?? ""),
    cpe: cpeOf("nodejs", "node.js", versions.node ?? ""),
    externalReferences: new ExternalReferenceRepository([tarball])
  })
}

const debianPackage = ({ name, version, source, license }: DebianPackage, arch: string) =>
  component(ComponentType.Library, name, version, license, {
    purl: purlOf(`deb/debian/${name}`, version, { arch, distro: `debian-${debianRelease}`, upstream: source })
  })

/** As text. */
export const sbomOf = (materials: Materials): string => {
  const { arch, commit, date, bundled, versions, debian } = materials
  const main = component(ComponentType.Application, manifest.name, manifest.version, manifest.license, {
    description: manifest.description,
    purl: purlOf(`generic/${manifest.name}`, manifest.version, { arch }),
    properties: new PropertyRepository([new Property("revision", commit)])
  })
  const bom = new Bom({ metadata: new Metadata({ component: main, timestamp: date }) })
  bom.metadata.lifecycles.add(LifecyclePhase.Build)
  bom.metadata.tools.components.add(component(ComponentType.Library, library.name, library.version, library.license))

  const nodeItself = node(materials)
  const ofNpm = bundled.map(npmPackage)
  const ofNode = [...partsOf(versions).map(partOfNode), ...debian.map((each) => debianPackage(each, arch))]
  const system = new Component(ComponentType.OperatingSystem, "debian", { version: debianRelease, bomRef: "debian" })
  for (const each of [nodeItself, ...ofNpm, ...ofNode, system]) bom.components.add(each)
  for (const each of [nodeItself, ...ofNpm]) main.dependencies.add(each.bomRef)
  for (const each of ofNode) nodeItself.dependencies.add(each.bomRef)

  const serializer = new JsonSerializer(new Json.Normalize.Factory(Spec1dot6))
  const text = () => `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
  bom.serialNumber = `urn:uuid:${uuidOf(text())}`
  return text()
}

/** Version 8: made from whatever one likes. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
