/** What belongs to one driver, built anew for each; everything else in services/ belongs to the process. */
import * as Layer from "effect/Layer"

import { DriverConnection, type DriverSettings } from "./driver/DriverConnection.ts"
import { RegistrationServer, type RegistrationSettings } from "./registration/RegistrationServer.ts"
import { Status } from "./Status.ts"

export const driverLayer = (settings: DriverSettings & RegistrationSettings) =>
  Layer.mergeAll(DriverConnection.layer(settings), RegistrationServer.layer(settings), Status.layer())
