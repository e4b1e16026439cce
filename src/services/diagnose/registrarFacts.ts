/** The registrar that runs beside this process, asked as the probe mode asks it. */
import * as fs from "node:fs"

import type { Settings } from "../flags/Flags.ts"
import { findRegistrars } from "../probe/findRegistrar.ts"
import { askUntil } from "../probe/probe.ts"
import type { StatusAnswer } from "../probe/statusSocketName.ts"

const limitMs = 5_000

export type RegistrarFacts =
  /** `looked` is false where `/proc` shows nobody. */
  | { readonly kind: "notFound"; readonly looked: boolean }
  | { readonly kind: "silent"; readonly pid: number; readonly reason: string; readonly settings: Settings }
  | { readonly kind: "answered"; readonly pid: number; readonly answer: StatusAnswer; readonly settings: Settings }

/** Of several the one that is registered, or else the first that answers. Takes 5 s at most; `args` are those of this process. */
export const lookAtRegistrar = async (
  { kubeletRegistrationPath }: Settings,
  args: ReadonlyArray<string>
): Promise<RegistrarFacts> => {
  const found = findRegistrars(kubeletRegistrationPath, args)
  const deadline = performance.now() + limitMs
  const asked = await Promise.all(
    found.map(async (registrar): Promise<RegistrarFacts> => {
      const { pid, settings } = registrar
      try {
        return { kind: "answered", pid, settings, answer: await askUntil(registrar, deadline) }
      } catch (error) {
        return { kind: "silent", pid, settings, reason: (error as Error).message }
      }
    })
  )
  const answered = asked.filter((facts) => facts.kind === "answered")
  return (
    answered.find(({ answer }) => answer.registered) ??
    answered[0] ??
    asked[0] ?? { kind: "notFound", looked: fs.existsSync("/proc/self/cmdline") }
  )
}
