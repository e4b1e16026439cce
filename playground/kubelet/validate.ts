/** The kubelet's checks before it calls a driver, and the texts in which it refuses (pkg/kubelet/pluginmanager, pkg/volume/csi). */
import type { PluginInfo } from "../../proto/generated/pluginregistration.ts"

/** Why the plugin behind `path` is refused; `taken` are the drivers that other sockets have registered. */
export const validate = (
  path: string,
  { type, name, endpoint, supported_versions }: PluginInfo,
  taken: ReadonlySet<string>
): string | undefined => {
  if (type !== "CSIPlugin") return `no handler registered for plugin type: ${type} at socket ${path}`
  const invalid = (why: string) =>
    `plugin validation failed with err: validation failed for CSI Driver ${name} at endpoint ${endpoint}: kubernetes.io/csi: ValidatePlugin for CSI driver "${name}" failed. ${why}`
  if (supported_versions.length === 0) return invalid("Plugin returned an empty list for supported versions")
  if (!supported_versions.some((version) => /^\s*v?1\.\d+/.test(version))) {
    const quoted = supported_versions.map((version) => JSON.stringify(version)).join(" ")
    return invalid(`None of the versions specified [${quoted}] are supported.`)
  }
  return taken.has(name)
    ? invalid('Another driver with the same name is already registered with a higher supported version: "1.0.0"')
    : undefined
}
