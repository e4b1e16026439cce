import { ScriptError } from "../scripts/tools.ts"

export class RootMissingError extends ScriptError {
  override readonly name = "RootMissingError"
  constructor() {
    super("needs root, for cgroups, namespaces and mounts")
  }
}

export const isRoot = (): boolean => process.getuid?.() === 0

export const needRoot = (): void => {
  if (!isRoot()) throw new RootMissingError()
}
