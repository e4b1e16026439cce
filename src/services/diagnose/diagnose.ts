/**
 * The diagnose mode: answers why the driver is not registered, from a look at everything that takes part. It creates, removes and binds nothing. What can
 * be looked at at once is; each look has a limit, and so has the whole: what has not answered by then is told as unknown.
 */
import { parseCsiAddress } from "../driver/csiAddress.ts"
import type { Settings } from "../flags/Flags.ts"
import { driverChecks, toldName } from "./driverChecks.ts"
import { lookAtDriver } from "./driverFacts.ts"
import { endHung } from "./endHung.ts"
import { folderChecks } from "./folderChecks.ts"
import { lookAtFolder } from "./folderFacts.ts"
import { pathChecks } from "./pathChecks.ts"
import { registrarChecks } from "./registrarChecks.ts"
import { lookAtRegistrar } from "./registrarFacts.ts"
import { type Check, failed, jsonOf, ok, reportOf, textOf } from "./report.ts"
import { within } from "./within.ts"

/** The looks may take that long, all at once; the rest of ten seconds is for node to start and end. */
const limitMs = 8_800

export interface Diagnosis {
  /** The exit code: 0 when all is well, 1 when not. */
  readonly code: 0 | 1
  /** What to print. */
  readonly text: string
  /** To be called when it is printed: ends the process where a thread of it hangs; does nothing otherwise. */
  readonly endHung: () => void
}

/** `args` are those of this process. */
export const diagnose = async (settings: Settings, args: ReadonlyArray<string>): Promise<Diagnosis> => {
  const address = parseCsiAddress(settings.csiAddress)
  const [driver, folder, registrar] = await Promise.all([
    "path" in address ? within(limitMs, lookAtDriver(address.path), undefined) : undefined,
    within(limitMs, lookAtFolder(settings.pluginRegistrationPath), undefined),
    lookAtRegistrar(settings, args)
  ])
  const driverName = toldName(driver)
  const report = reportOf(driverName, [
    addressCheck(settings.csiAddress, address),
    ...driverChecks(driver, settings.callTimeoutMs),
    ...folderChecks(folder, registrar, driverName),
    ...pathChecks({ settings, driver, folder, registrar, driverName }),
    ...registrarChecks(registrar, settings, Date.now())
  ])
  const code = report.ok ? 0 : 1
  const text = settings.log.format === "json" ? jsonOf(report) : textOf(report)
  return { code, text, endHung: () => endHung(code, args) }
}

const addressCheck = (given: string, address: ReturnType<typeof parseCsiAddress>): Check =>
  "path" in address
    ? ok("csi-address", given === address.path ? given : `${given}, which is ${address.path}`)
    : failed(
        "csi-address",
        "address-illegal",
        address.fault,
        "the registrar ends at once",
        "give the path of the driver's unix socket, such as /csi/csi.sock"
      )
