/** What is right and wrong with the paths: their lengths, and whether the one that the kubelet gets leads to the driver's socket. Pure. */
import * as path from "node:path"

import { pathDoubt } from "../flags/decide.ts"
import type { Settings } from "../flags/Flags.ts"
import { maxSocketPathBytes, pathBytes } from "../socketPath.ts"
import type { DriverFacts } from "./driverFacts.ts"
import type { FolderFacts } from "./folderFacts.ts"
import type { RegistrarFacts } from "./registrarFacts.ts"
import { type Check, failed, ok, unknown, warning } from "./report.ts"

interface Found {
  readonly settings: Settings
  readonly driver: DriverFacts | undefined
  readonly folder: FolderFacts | undefined
  readonly registrar: RegistrarFacts
  readonly driverName: string | undefined
}

export const pathChecks = (found: Found): ReadonlyArray<Check> => [lengthsCheck(found), endpointCheck(found)]

const lengthsCheck = ({ settings, folder, driverName }: Found): Check => {
  const name = "path-lengths"
  const socket = `${driverName ?? ""}-reg.sock`
  const paths = {
    "the registration socket in the container": path.join(settings.pluginRegistrationPath, socket),
    // What lies above its file system is not known here, so the real one may be longer.
    "the registration socket on the host": folder?.host === undefined ? "" : path.join(folder.host.path, socket),
    "--kubelet-registration-path": settings.kubeletRegistrationPath
  }
  const long = Object.entries(paths).filter(([, one]) => pathBytes(one) > maxSocketPathBytes)
  if (long.length > 0) {
    return failed(
      name,
      "path-too-long",
      long.map(([what, one]) => `${what} has ${pathBytes(one)} bytes: ${one}`).join("; "),
      `the path of a unix socket has at most ${maxSocketPathBytes} bytes`,
      "use a shorter path: a shorter folder below plugins/, a shorter mount path, or a shorter name of the driver"
    )
  }
  const longest = Math.max(...Object.values(paths).map(pathBytes))
  return driverName === undefined
    ? unknown(name, `at least ${longest} of ${maxSocketPathBytes} bytes; the driver's name is not known`)
    : ok(name, `the longest has ${longest} of ${maxSocketPathBytes} bytes`)
}

const endpointAdvice =
  "let --kubelet-registration-path be the driver's socket as the host sees it: the hostPath of the volume behind --csi-address, and the socket's name"

const endpointCheck = ({ settings, driver, registrar }: Found): Check => {
  const name = "endpoint"
  const endpoint = settings.kubeletRegistrationPath
  const answer = registrar.kind === "answered" ? registrar.answer : undefined
  if (answer?.registered || answer?.lastVerdict?.accepted) {
    return ok(name, endpoint, "the kubelet has reached the driver there")
  }
  const doubt = pathDoubt(endpoint)
  if (doubt !== undefined) {
    return failed(name, "endpoint-unreachable", endpoint, "the kubelet is told a path that it cannot use", doubt)
  }
  const refusal = answer?.lastVerdict?.text ?? ""
  if (/dial unix /.test(refusal)) {
    return failed(name, "endpoint-unreachable", endpoint, `the kubelet has tried it: ${refusal}`, endpointAdvice)
  }
  if (driver?.host === undefined || driver.file.kind !== "there") {
    return unknown(name, `${endpoint}; there is no socket in the container to compare it with`)
  }
  const real = path.join(driver.host.path, path.basename(driver.socketPath))
  const found = `${endpoint}; the socket in the container is ${real} on ${driver.host.source}`
  switch (likeness(endpoint, real)) {
    case "same":
      return ok(name, found, "it can be the same socket")
    case "alike":
      return warning(
        name,
        "endpoint-unreachable",
        found,
        "another root: the same socket only if one is a link to the other",
        endpointAdvice
      )
    case "different":
      return failed(
        name,
        "endpoint-unreachable",
        found,
        "the kubelet is told a path that leads elsewhere, or nowhere",
        endpointAdvice
      )
  }
}

const partsOf = (path: string) => path.split("/").filter((part) => part !== "")

/** Folder and name. */
const alikeParts = 2

/**
 * Whether a path on the host can be the one that a file system has for a socket: one may end with the other, since a file system may be mounted below the
 * host's root, and a folder of it may be the host's root.
 */
export const likeness = (endpoint: string, real: string): "same" | "alike" | "different" => {
  const [a, b] = [partsOf(endpoint), partsOf(real)]
  const shorter = Math.min(a.length, b.length)
  let same = 0
  while (same < shorter && a.at(-1 - same) === b.at(-1 - same)) same++
  if (same === shorter) return "same"
  return same >= alikeParts ? "alike" : "different"
}
