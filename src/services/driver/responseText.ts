/** A GetPluginInfo reply as upstream logs it: JSON with sorted names, what is empty left out, and `<`, `>`, `&` escaped as Go does. */
import type { GetPluginInfoResponse } from "../../../proto/generated/csi.ts"

const sorted = (entries: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))

const isEmpty = (value: unknown) =>
  value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0)

export const responseText = (response: GetPluginInfoResponse | undefined): string => {
  const { manifest = {}, ...rest } = response ?? {}
  const filled = Object.entries({ ...rest, manifest: sorted(manifest) }).filter(([, value]) => !isEmpty(value))
  return JSON.stringify(sorted(Object.fromEntries(filled))).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
}
