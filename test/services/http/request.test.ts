/** Claim: a request line with an unknown method is found wherever it lies in what came; what is none is refused with the status of its error. */
import { assert, describe, it } from "vitest"

import { isRefusal, readUnparsed } from "../../../src/services/http/request.ts"

const read = (code: string, packet?: string, bytesParsed?: number) => {
  const result = readUnparsed({
    code,
    ...(packet === undefined ? {} : { rawPacket: Buffer.from(packet, "latin1") }),
    ...(bytesParsed === undefined ? {} : { bytesParsed })
  })
  return isRefusal(result) ? result.status : `${result.method} ${result.target.raw}`
}

describe("readUnparsed", () => {
  const line = "FOO /healthz?x HTTP/1.1\r\n"
  const before = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

  it.each([
    [line, 1, "FOO /healthz?x"],
    [`${line}Host: x\r\n\r\n`, 0, "FOO /healthz?x"],
    [before + line, before.length + 1, "FOO /healthz?x"],
    [before + line, before.length, "FOO /healthz?x"],
    ["GETTER * HTTP/1.0\r\n", 3, "GETTER *"],
    ["FOO /healthz HTTP/2.0\r\n", 1, 400],
    ["FOO /healthz HTTP/1.1", 1, 400],
    ["FOO healthz HTTP/1.1\r\n", 1, 400],
    ["FOO /% HTTP/1.1\r\n", 1, 400],
    ["F@O / HTTP/1.1\r\n", 1, 400],
    ["\r\n", 0, 400],
    ["", 0, 400]
  ])("%j, wrong at %i: %s", (packet, at, expected) => {
    assert.equal(read("HPE_INVALID_METHOD", packet, at), expected)
  })

  it.each([
    ["HPE_INVALID_METHOD", 400],
    ["HPE_INVALID_URL", 400],
    ["HPE_HEADER_OVERFLOW", 431],
    ["HPE_INVALID_VERSION", 505],
    ["ERR_HTTP_REQUEST_TIMEOUT", 408],
    ["ECONNRESET", 400],
    ["", 400]
  ])("%s without a packet: %i", (code, status) => {
    assert.equal(read(code), status)
  })
})
