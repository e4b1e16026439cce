// Generated from proto/pluginregistration.proto by `node scripts/genCodecs.ts`: do not edit.
import { type Codec, codec, unary } from "../codec.ts"

/** What a plugin tells about itself. */
export interface PluginInfo {
  readonly type: string
  readonly name: string
  /** Where the kubelet reaches the plugin's own service, as a path on the host. */
  readonly endpoint: string
  readonly supported_versions: ReadonlyArray<string>
}
export const PluginInfo: Codec<PluginInfo> = codec([
  [1, "type", "string"],
  [2, "name", "string"],
  [3, "endpoint", "string"],
  [4, "supported_versions", "repeated string"]
])

/** The kubelet's verdict. */
export interface RegistrationStatus {
  readonly plugin_registered: boolean
  readonly error: string
}
export const RegistrationStatus: Codec<RegistrationStatus> = codec([
  [1, "plugin_registered", "bool"],
  [2, "error", "string"]
])

export type RegistrationStatusResponse = Record<never, never>
export const RegistrationStatusResponse: Codec<RegistrationStatusResponse> = codec([])

export type InfoRequest = Record<never, never>
export const InfoRequest: Codec<InfoRequest> = codec([])

export const RegistrationService = {
  GetInfo: unary("/pluginregistration.Registration/GetInfo", InfoRequest, PluginInfo),
  NotifyRegistrationStatus: unary("/pluginregistration.Registration/NotifyRegistrationStatus", RegistrationStatus, RegistrationStatusResponse)
}
