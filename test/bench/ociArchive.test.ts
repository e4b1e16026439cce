/** Claim: what is to be pulled is the sum of the layers of each architecture, through an index or not; a layer that is not gzip is refused. */
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

import { assert, it } from "@effect/vitest"

import { layerBytesOf } from "../../bench/ociArchive.ts"

const types = "application/vnd.oci.image"

/** An archive of the files, by tar itself. */
const archive = (files: Readonly<Record<string, object>>): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "oci-"))
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.join(folder, "layout", path.dirname(name)), { recursive: true })
    fs.writeFileSync(path.join(folder, "layout", name), JSON.stringify(content))
  }
  const tar = path.join(folder, "image.tar")
  execFileSync("tar", ["--format=ustar", "-C", path.join(folder, "layout"), "-cf", tar, "."])
  return tar
}

const layer = (size: number, kind = "tar+gzip") => ({
  mediaType: `${types}.layer.v1.${kind}`,
  digest: "sha256:l",
  size
})
const manifest = (digest: string, architecture: string) => ({
  mediaType: `${types}.manifest.v1+json`,
  digest: `sha256:${digest}`,
  size: 1,
  platform: { architecture }
})

it("layers are added up, by architecture", () => {
  const tar = archive({
    "oci-layout": {},
    "index.json": { manifests: [{ mediaType: `${types}.index.v1+json`, digest: "sha256:i", size: 1 }] },
    "blobs/sha256/i": { manifests: [manifest("a", "amd64"), manifest("b", "arm64")] },
    "blobs/sha256/a": { layers: [layer(40_000_000), layer(2_000_000)] },
    "blobs/sha256/b": { layers: [layer(41_000_000)], filler: "x".repeat(2_000) }
  })
  assert.deepStrictEqual(
    [...layerBytesOf(tar)],
    [
      ["amd64", 42_000_000],
      ["arm64", 41_000_000]
    ]
  )
})

it("manifests may stand in index.json itself", () => {
  const tar = archive({
    "index.json": { manifests: [manifest("a", "amd64")] },
    "blobs/sha256/a": { layers: [layer(7)] }
  })
  assert.deepStrictEqual([...layerBytesOf(tar)], [["amd64", 7]])
})

it("what is not compressed has no figure", () => {
  const layers = [layer(7, "tar")]
  const tar = archive({ "index.json": { manifests: [manifest("a", "amd64")] }, "blobs/sha256/a": { layers } })
  assert.throws(() => layerBytesOf(tar), "not gzip")
})

it("a blob that is missing is named", () => {
  const tar = archive({ "index.json": { manifests: [manifest("a", "amd64")] } })
  assert.throws(() => layerBytesOf(tar), "blobs/sha256/a is not in it")
})
