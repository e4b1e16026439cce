/** What is fetched once and kept: folders in `$XDG_CACHE_HOME/csi-node-driver-registrar`. Each is named after all that is in it, so none goes stale. */
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "csi-node-driver-registrar")

/** Makes the folder unless it is there. Several may do so at once: it becomes visible whole, by a rename. */
export const cached = async (name: string, make: (unfinished: string) => Promise<void>): Promise<string> => {
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  const unfinished = await mkdtemp(join(cache, ".unfinished-"))
  try {
    await make(unfinished)
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}
