/** Every subject, in the order of the table; what takes longest comes last. */
import type { Subject } from "../Bench.ts"
import { checks } from "./checks.ts"
import { help, probe, version } from "./commandLine.ts"
import { cpu100m } from "./cpu100m.ts"
import { getInfoObserved, getInfoUnderLoad } from "./getInfo.ts"
import { idle } from "./idle.ts"
import { image } from "./image.ts"
import { limit32 } from "./limit32.ts"
import { memory } from "./memory.ts"
import { healed, lateDriver, stop } from "./promptness.ts"
import { six } from "./six.ts"
import { start } from "./start.ts"

export const subjects: ReadonlyArray<Subject> = [
  start,
  version,
  help,
  probe,
  memory,
  checks,
  limit32,
  cpu100m,
  six,
  getInfoUnderLoad,
  getInfoObserved,
  lateDriver,
  healed,
  stop,
  image,
  idle
]
