// Watches the chart with Stately's inspector, in development:
//
//   npm run inspect                    the playground's prompt, each of its registrars inspected
//   npm run inspect -- --csi-address…  one registrar, with these arguments
//
// Prints the address of a page on loopback; the inspector in it comes from stately.ai. The one that the image has needs no network: docs/inspector.md.
import { join } from "node:path"

import { play } from "../playground/play.ts"
import { startRelay } from "./inspect/relay.ts"

const args = process.argv.slice(2)
const { url } = await startRelay()
// Read by the registrars that are started from here on.
process.env.INSPECT_RELAY = url
process.stderr.write(`Stately's inspector: ${url}\n`)
await play(args.length === 0 ? ["--keep"] : args, async () => join(import.meta.dirname, "inspect/registrar.ts"))
