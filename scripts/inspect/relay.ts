/**
 * Between registrars that are inspected and a browser with Stately's inspector: takes their inspection events as lines, hands them to the page as server-sent
 * events, and the page to Stately's, which it shows in a frame. (The package has a relay of its own; it listens on all interfaces.)
 */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { createInterface } from "node:readline"

const stately = "https://stately.ai/inspect"
/** Kept for a page that is opened later, or anew. */
const mostKept = 1_000

/** Stately's page takes events by `postMessage` once it has said that it listens. */
const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Stately inspector</title>
<style>html,body{height:100%;margin:0}iframe{width:100%;height:100%;border:0}</style>
<iframe id="stately" title="Stately inspector" src="${stately}"></iframe>
<script>
const frame = document.getElementById("stately").contentWindow
addEventListener("message", ({ data, source }) => {
  if (source !== frame || data?.type !== "@statelyai.connected") return
  new EventSource("/events").onmessage = ({ data }) => frame.postMessage(JSON.parse(data), "${new URL(stately).origin}")
}, { once: false })
</script></html>
`

export interface Relay {
  /** Of the page; registrars post their events, a JSON object a line, to `/events` below it. */
  readonly url: string
  readonly close: () => void
}

/** Listens on loopback, on a free port. */
export const startRelay = async (): Promise<Relay> => {
  const kept: Array<string> = []
  const pages = new Set<ServerResponse>()
  const tell = (line: string) => {
    kept.push(line)
    if (kept.length > mostKept) kept.shift()
    for (const page of pages) page.write(`data: ${line}\n\n`)
  }
  const server = createServer((request, response) => {
    switch (`${request.method} ${request.url}`) {
      case "POST /events":
        return createInterface({ input: request })
          .on("line", tell)
          .on("close", () => response.writeHead(204).end())
      case "GET /events":
        response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" })
        response.write(`retry: 1000\n\n${kept.map((line) => `data: ${line}\n\n`).join("")}`)
        response.once("close", () => pages.delete(response))
        return pages.add(response)
      case "GET /":
        return response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(page)
      default:
        return response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
