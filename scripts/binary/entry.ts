/** Main of the single executable: the pieces of the bundle lie in it as assets, each with its code cache. */
import { getRawAsset } from "node:sea"

import { freshEnvironment } from "./freshEnvironment.ts"
import { cacheOf, pieces } from "./Pieces.ts"

freshEnvironment()

pieces(
  (name) => ({
    source: Buffer.from(getRawAsset(name)).toString("latin1"),
    codeCache: Buffer.from(getRawAsset(cacheOf(name)))
  }),
  require,
  (name, { cachedDataRejected }) => {
    // As node itself says it of the main script. The build takes it for a failure.
    if (cachedDataRejected === true) process.emitWarning(`Code cache data rejected: ${name}`)
  }
)("./main.cjs")
