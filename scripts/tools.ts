/** Programs that the scripts need beside npm's: a missing one is told by its name and the package of Debian that has it. */
import { execFile } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

/** Program → package. */
const packages: Readonly<Record<string, string>> = {
  "aarch64-linux-gnu-strip": "binutils-aarch64-linux-gnu",
  "apt-get": "apt",
  buildah: "buildah",
  icupkg: "icu-devtools",
  "dpkg-deb": "dpkg",
  npm: "npm",
  "qemu-aarch64-static": "qemu-user-static",
  "qemu-x86_64-static": "qemu-user-static",
  readelf: "binutils",
  runc: "runc",
  strip: "binutils",
  tar: "tar",
  "x86_64-linux-gnu-strip": "binutils-x86-64-linux-gnu"
}

/** Something that whoever has started the script has to mend; its message is all that they need to see. */
export class ScriptError extends Error {
  override readonly name: string = "ScriptError"
}

export class ToolMissingError extends ScriptError {
  override readonly name = "ToolMissingError"
  constructor(missing: ReadonlyArray<string>) {
    const wanted = [...new Set(missing.map((name) => packages[name] ?? name))].sort()
    super(`${missing.join(", ")}: not found; apt-get install --no-install-recommends ${wanted.join(" ")}`)
  }
}

const isThere = (name: string): boolean =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** @throws {ToolMissingError} one for all that are missing, before hours are spent on the way to them */
export const needTools = (...names: ReadonlyArray<string>): void => {
  const missing = names.filter((name) => !isThere(name))
  if (missing.length > 0) throw new ToolMissingError(missing)
}

interface Surroundings {
  readonly cwd?: string
  /** All that it gets of the environment; ours by default. */
  readonly env?: NodeJS.ProcessEnv
}

/**
 * Runs a tool, and resolves with its stdout.
 *
 * @throws {ToolMissingError} and whatever the tool says when it fails
 */
export const tool = async (name: string, args: ReadonlyArray<string>, options: Surroundings = {}): Promise<string> => {
  if (!isAbsolute(name)) needTools(name)
  const { stdout } = await run(name, args, { maxBuffer: 2 ** 26, ...options })
  return stdout
}

/** Runs the main of a script: of an error that a person has to mend, the message is shown and nothing else. */
export const script = async (main: () => Promise<void>): Promise<void> => {
  try {
    await main()
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
