/** The machines that are built for, as node, GNU, Debian and OCI call them. */

/** As node calls it. */
export type Arch = "x64" | "arm64"

export interface Platform {
  /** As GNU calls it: folders of libraries, names of cross tools. */
  readonly triplet: string
  /** As Debian and OCI call it. */
  readonly debian: "amd64" | "arm64"
  /** What runs its programs on another machine. */
  readonly emulator: string
}

export const platforms: Readonly<Record<Arch, Platform>> = {
  x64: { triplet: "x86_64-linux-gnu", debian: "amd64", emulator: "qemu-x86_64-static" },
  arm64: { triplet: "aarch64-linux-gnu", debian: "arm64", emulator: "qemu-aarch64-static" }
}

export const archs = Object.keys(platforms) as ReadonlyArray<Arch>

/** The `strip` for its programs. */
export const stripOf = (arch: Arch): string => (arch === process.arch ? "strip" : `${platforms[arch].triplet}-strip`)

/** This machine, as Debian and OCI call it; undefined on one that nothing is built for. */
export const native = platforms[process.arch as Arch]?.debian

/** Node's name for what Debian and OCI call `debian`. */
export const archOf = (debian: string): Arch | undefined => archs.find((arch) => platforms[arch].debian === debian)
