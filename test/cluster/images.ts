/** The images of the pods. No registry has them: they are imported from archives, and pods never pull. */
import { existsSync } from "node:fs"
import { resolve } from "node:path"

export const imageNames = {
  pause: "registrar.test/pause:1",
  driver: "registrar.test/driver:1",
  registrar: "registrar.test/csi-node-driver-registrar:1"
} as const

const builtImage = resolve(import.meta.dirname, "../../dist/image/csi-node-driver-registrar.oci.tar")

export class RegistrarImageMissingError extends Error {
  override readonly name = "RegistrarImageMissingError"
  constructor(archive: string) {
    super(
      `${archive} does not exist: it is the image under test, an OCI archive; ` +
        "build it with: npm run build:image (REGISTRAR_IMAGE names another)"
    )
  }
}

/** The archive of the image under test; it may hold the images of several architectures. */
export const registrarImage = (): string => {
  const archive = resolve(process.env.REGISTRAR_IMAGE || builtImage)
  if (!existsSync(archive)) throw new RegistrarImageMissingError(archive)
  return archive
}
