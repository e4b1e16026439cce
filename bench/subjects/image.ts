/** What a node pulls. */
import { existsSync } from "node:fs"
import { relative, resolve } from "node:path"

import type { Subject } from "../Bench.ts"
import { layerBytesOf } from "../ociArchive.ts"

const archive = resolve(import.meta.dirname, "../../dist/image/csi-node-driver-registrar.oci.tar")

export const image: Subject = {
  figures: ["image.amd64", "image.arm64"],
  measure: async ({ recorder, peers, ours }) => {
    for (const figure of image.figures) {
      for (const { name } of peers) recorder.cannot(figure, name, "an executable, no image")
    }
    if (!existsSync(archive)) throw new Error(`${relative(process.cwd(), archive)} has not been built`)
    const bytes = layerBytesOf(archive)
    for (const figure of image.figures) {
      const found = bytes.get(figure.replace("image.", ""))
      if (found === undefined) recorder.cannot(figure, ours.name, "the archive has no such image")
      else recorder.record(figure, ours.name, found / 1e6)
    }
  }
}
