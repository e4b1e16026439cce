/** What is asked, out of what node:http has read or could not read; or why it is refused, in Go's words. Pure. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"

import type { Refusal } from "./answer.ts"
import { parseTarget, type Target } from "./goMux.ts"

export interface Request {
  readonly method: string
  readonly target: Target
  readonly headers: IncomingHttpHeaders
}

/** As node:http's `clientError` has it. */
export interface ParseError {
  readonly code?: string
  /** What came last. */
  readonly rawPacket?: Buffer
  /** How much of that was fine. */
  readonly bytesParsed?: number
}

export const isRefusal = (read: Request | Refusal): read is Refusal => "phrase" in read

const badRequest: Refusal = { status: 400, phrase: "Bad Request" }
const missingHost: Refusal = { status: 400, phrase: "Bad Request: missing required Host header" }
const unsupportedCoding: Refusal = {
  status: 501,
  phrase: "Not Implemented",
  body: "Unsupported transfer encoding"
}
const unsupportedVersion: Refusal = {
  status: 505,
  phrase: "HTTP Version Not Supported: unsupported protocol version"
}

/** By the code of the error; any other is a bad request. */
const refusals: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, phrase: "Request Timeout" },
  HPE_HEADER_OVERFLOW: { status: 431, phrase: "Request Header Fields Too Large" },
  HPE_INVALID_VERSION: unsupportedVersion
}

export const readRequest = (incoming: IncomingMessage): Request | Refusal => {
  const { method = "", url = "", headers } = incoming
  const hosts = incoming.headersDistinct.host?.length ?? 0
  const target = parseTarget(method, url)
  if (target === undefined || hosts > 1) return badRequest
  if ((headers["transfer-encoding"] ?? "chunked").toLowerCase() !== "chunked") return unsupportedCoding
  if (incoming.httpVersionMajor !== 1) return unsupportedVersion
  if (hosts === 0 && incoming.httpVersionMinor > 0 && method !== "CONNECT") return missingHost
  return { method, target, headers }
}

/** A method that node:http does not know is a method like any other: its request line is taken from the packet, headers are not. */
export const readUnparsed = ({ code = "", rawPacket, bytesParsed = 0 }: ParseError): Request | Refusal => {
  if (code !== "HPE_INVALID_METHOD" || rawPacket === undefined) return refusals[code] ?? badRequest
  // Requests that were fine may be in front of it.
  const start = bytesParsed === 0 ? 0 : rawPacket.lastIndexOf("\n", bytesParsed - 1) + 1
  const end = rawPacket.indexOf("\r\n", start)
  const line = rawPacket.toString("latin1", start, end < 0 ? start : end)
  const [, method = "", raw = ""] = /^([\w!#$%&'*+.^`|~-]+) ([^ ]+) HTTP\/1\.\d$/.exec(line) ?? []
  const target = parseTarget(method, raw)
  return target === undefined ? badRequest : { method, target, headers: {} }
}
