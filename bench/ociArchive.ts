/** How much there is to pull of an image, read from an OCI archive: a tar whose index.json leads to the manifests. */
import { closeSync, openSync, readSync } from "node:fs"

const blockBytes = 512

interface Entry {
  readonly offset: number
  readonly bytes: number
}

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly platform?: { readonly architecture: string }
}

interface Index {
  readonly manifests: ReadonlyArray<Descriptor>
}

interface Manifest {
  readonly layers: ReadonlyArray<Descriptor>
}

/** Bytes of the compressed layers, by architecture as OCI calls it. */
export const layerBytesOf = (archive: string): ReadonlyMap<string, number> => {
  const descriptor = openSync(archive, "r")
  try {
    const entries = entriesOf(descriptor)
    const json = <A>(name: string): A => {
      const entry = entries.get(name)
      if (entry === undefined) throw new Error(`${archive}: ${name} is not in it`)
      return JSON.parse(read(descriptor, entry).toString("utf8")) as A
    }
    const blob = <A>({ digest }: Descriptor): A => json<A>(`blobs/${digest.replace(":", "/")}`)
    const images = json<Index>("index.json").manifests.flatMap((top) =>
      /image\.index|manifest\.list/.test(top.mediaType) ? blob<Index>(top).manifests : [top]
    )
    return new Map(
      images.map((image) => [image.platform?.architecture ?? "unknown", compressedBytes(blob<Manifest>(image))])
    )
  } finally {
    closeSync(descriptor)
  }
}

const compressedBytes = ({ layers }: Manifest): number =>
  layers.reduce((sum, { mediaType, size }) => {
    if (!mediaType.endsWith("gzip")) throw new Error(`a layer is ${mediaType}, not gzip`)
    return sum + size
  }, 0)

const read = (descriptor: number, { offset, bytes }: Entry): Buffer => {
  const buffer = Buffer.alloc(bytes)
  readSync(descriptor, buffer, 0, bytes, offset)
  return buffer
}

/** The files of a tar by name. Names of layouts are short: no extension of the format is needed. */
const entriesOf = (descriptor: number): ReadonlyMap<string, Entry> => {
  const entries = new Map<string, Entry>()
  for (let offset = 0; ; ) {
    const header = read(descriptor, { offset, bytes: blockBytes })
    const name = header.toString("latin1", 0, 100).replace(/\0.*$/s, "")
    if (name === "") return entries
    const bytes = Number.parseInt(header.toString("latin1", 124, 136), 8)
    entries.set(name.replace(/^\.\//, ""), { offset: offset + blockBytes, bytes })
    offset += blockBytes + Math.ceil(bytes / blockBytes) * blockBytes
  }
}
