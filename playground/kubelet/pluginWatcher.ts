/**
 * A kubelet's desired state of the world: the sockets in its plugin directory, each with an identity that changes when somebody puts a new socket at the
 * same path. Dot-names and what is no socket are ignored; sub-directories, which a kubelet watches too, are left out.
 */
import { type FSWatcher, readdirSync, statSync, watch } from "node:fs"
import { join } from "node:path"

export interface PluginWatcher {
  /** Path of each socket, and its identity. */
  readonly desired: ReadonlyMap<string, string>
  readonly close: () => void
}

/** Watches first and walks then, so that nothing falls between the two. */
export const watchPlugins = (folder: string, onChange: (path: string, there: boolean) => void): PluginWatcher => {
  const desired = new Map<string, string>()

  const look = (name: string): void => {
    if (name.startsWith(".")) return
    const path = join(folder, name)
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) {
      if (desired.delete(path)) onChange(path, false)
      return
    }
    if (!stats.isSocket()) return
    // An event tells that something happened to a name, not what; one socket may have several.
    const identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`
    if (desired.get(path) === identity) return
    desired.set(path, identity)
    onChange(path, true)
  }

  const watcher: FSWatcher = watch(folder, (kind, name) => {
    if (kind === "rename" && name !== null) look(name)
  })
  // The folder itself is gone: a kubelet goes deaf then.
  watcher.on("error", () => {})
  for (const name of readdirSync(folder)) look(name)
  return { desired, close: () => watcher.close() }
}
