/** The registrar itself: dist/main.cjs, built anew when it is missing or older than its sources. */
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")
const dist = join(root, "dist")
const out = join(dist, "main.cjs")

/** Path of a bundle of the present sources. Whoever runs the former one meanwhile never sees half of the new one. */
export const freshBundle = async (): Promise<string> => {
  const built = await stat(out).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0
  )
  if (built >= Math.max(...(await Promise.all(["src", "proto"].map(newestIn))))) return out
  await mkdir(dist, { recursive: true })
  const workshop = await mkdtemp(join(dist, ".build-"))
  try {
    const { bundle } = await import("../scripts/build.ts")
    await bundle(workshop)
    const pieces = (await readdir(workshop)).filter((file) => file !== "main.cjs")
    for (const file of [...pieces, "main.cjs"]) await rename(join(workshop, file), join(dist, file))
  } finally {
    await rm(workshop, { recursive: true, force: true })
  }
  return out
}

/** Change time of the youngest file below, in milliseconds since the epoch. */
const newestIn = async (folder: string): Promise<number> => {
  const files = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
  const times = files
    .filter((file) => file.isFile())
    .map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).mtimeMs)
  return Math.max(...(await Promise.all(times)))
}
