// Serves the inspector's page on loopback with a record loaded, as somebody has downloaded it from /debug/machine/events.ndjson. Ends with Ctrl-C.
//
//   node scripts/replay.ts [--port=N] FILE
import { readFile } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { parseArgs } from "node:util"

import { decodeRecord, isFault } from "../src/services/inspector/record.ts"
import { makePage, type Page } from "./inspector/page.ts"
import { ScriptError, script } from "./tools.ts"

/** The page finds no events to come, and shows the file. */
const replayServer = ({ html, policy }: Page, record: string): Server =>
  createServer(({ url }, response) => {
    const answer = (type: string, text: string, headers: Record<string, string> = {}) =>
      response.writeHead(200, { "Content-Type": type, "Cache-Control": "no-store", ...headers }).end(text)
    switch (url) {
      case "/":
        return response.writeHead(307, { Location: "/debug/machine" }).end()
      case "/debug/machine":
        return answer("text/html; charset=utf-8", html, { "Content-Security-Policy": policy })
      case "/debug/machine/events.ndjson":
        return answer("application/x-ndjson", record)
      default:
        return response.writeHead(404).end()
    }
  })

if (import.meta.main) {
  const { values, positionals } = parseArgs({ options: { port: { type: "string" } }, allowPositionals: true })
  const [file] = positionals
  await script(async () => {
    if (file === undefined) throw new ScriptError("usage: npm run replay -- [--port=N] FILE")
    const text = await readFile(file, "utf8").catch((error: Error) => {
      throw new ScriptError(error.message)
    })
    const record = decodeRecord(text)
    if (isFault(record)) throw new ScriptError(`${file}: ${record.fault}`)
    const server = replayServer(await makePage(), text)
    await new Promise<void>((resolve) => server.listen(Number(values.port ?? 0), "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    console.log(`${record.entries.length} events of ${record.header.driver || "a driver without a name"}`)
    console.log(`http://127.0.0.1:${port}/debug/machine`)
  })
}
