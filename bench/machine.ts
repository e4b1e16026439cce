/** Where figures were taken: without it they say nothing. */
import { createHash } from "node:crypto"
import { createReadStream, statSync } from "node:fs"
import * as os from "node:os"
import { pipeline } from "node:stream/promises"

export const machineNow = (): Readonly<Record<string, string>> => ({
  cpu: `${os.cpus().length} × ${os.cpus()[0]?.model.trim() ?? "unknown CPU"}`,
  memory: `${(os.totalmem() / 2 ** 30).toFixed(0)} GiB`,
  kernel: `Linux ${os.release()}`,
  load: `load ${os.loadavg()[0]?.toFixed(1)} before the first run`
})

export const executableAt = async (file: string) => {
  const hash = createHash("sha256")
  await pipeline(createReadStream(file), hash)
  return { bytes: statSync(file).size, sha256: hash.digest("hex") }
}
