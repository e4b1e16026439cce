// Generated from proto/csi.proto by `node scripts/genCodecs.ts`: do not edit.
import { type Codec, codec, unary } from "../codec.ts"

export type GetPluginInfoRequest = Record<never, never>
export const GetPluginInfoRequest: Codec<GetPluginInfoRequest> = codec([])

export interface GetPluginInfoResponse {
  /** Reverse-domain notation, at most 63 characters, alphanumeric at both ends, with dashes, dots and alphanumerics between. */
  readonly name: string
  readonly vendor_version: string
  readonly manifest: Readonly<Record<string, string>>
}
export const GetPluginInfoResponse: Codec<GetPluginInfoResponse> = codec([
  [1, "name", "string"],
  [2, "vendor_version", "string"],
  [3, "manifest", "map<string, string>"]
])

export const IdentityService = {
  GetPluginInfo: unary("/csi.v1.Identity/GetPluginInfo", GetPluginInfoRequest, GetPluginInfoResponse)
}
