/** What a kubelet has seen and done, as the story tells it and waits for it. */
import type { PluginInfo } from "../../proto/generated/pluginregistration.ts"

export type KubeletEvent =
  | { readonly type: "started" | "stopped" }
  /** A socket came into the folder, or a new one took its place; and it went. */
  | { readonly type: "socketSeen" | "socketGone"; readonly path: string }
  /** GetInfo was answered. */
  | { readonly type: "asked"; readonly path: string; readonly info: PluginInfo }
  /** The driver answered NodeGetInfo, is in the CSINode, and the registrar has been told. */
  | { readonly type: "registered"; readonly path: string; readonly driver: string; readonly nodeId: string }
  /** The registrar was told no, with this text; `delivered` is whether it answered. */
  | {
      readonly type: "refused"
      readonly path: string
      readonly driver: string
      readonly error: string
      readonly delivered: boolean
    }
  /** No connection, no GetInfo, or no answer to a yes: the text is for the kubelet's own log. */
  | { readonly type: "failed"; readonly path: string; readonly error: string }
  | { readonly type: "deregistered"; readonly path: string; readonly driver: string }

/** One line, for people. */
export const describe = (event: KubeletEvent): string => {
  switch (event.type) {
    case "started":
      return "starts, and knows nothing but the sockets in its folder"
    case "stopped":
      return "stops"
    case "socketSeen":
      return `sees ${event.path}`
    case "socketGone":
      return `sees ${event.path} go`
    case "asked":
      return `asks GetInfo: ${event.info.type} ${event.info.name} ${event.info.supported_versions.join(" ")} at ${event.info.endpoint}`
    case "registered":
      return `says yes to ${event.driver}; the CSINode has it, with node id ${event.nodeId}`
    case "refused":
      return `says no to ${event.driver}: ${event.error} (${event.delivered ? "the registrar answers" : "nobody answers"})`
    case "failed":
      return `cannot register ${event.path}: ${event.error}`
    case "deregistered":
      return `unregisters ${event.driver}; the CSINode loses it`
  }
}
