/**
 * Unary gRPC calls with an empty request, over node:http2: gRPC's own library would be five times as much to load beside a registrar that lives within
 * a limit of memory.
 */
import * as http2 from "node:http2"
import * as net from "node:net"

export interface Reply {
  /** gRPC's status code. */
  readonly code: number
  /** What came with an error. */
  readonly message: string
  /** The bytes of the response; empty with an error. */
  readonly response: Buffer
  readonly tookMs: number
}

/** Codes that something follows from here. */
export const grpcCode = {
  ok: 0,
  unknown: 2,
  deadlineExceeded: 4,
  failedPrecondition: 9,
  unimplemented: 12,
  unavailable: 14
}

const codeNames = [
  "OK",
  "Canceled",
  "Unknown",
  "InvalidArgument",
  "DeadlineExceeded",
  "NotFound",
  "AlreadyExists",
  "PermissionDenied",
  "ResourceExhausted",
  "FailedPrecondition",
  "Aborted",
  "OutOfRange",
  "Unimplemented",
  "Internal",
  "Unavailable",
  "DataLoss",
  "Unauthenticated"
]

/** As Go prints it: `Unavailable`, `Code(99)`. */
export const codeName = (code: number): string => codeNames[code] ?? `Code(${code})`

const emptyRequest = Buffer.alloc(5)
const frameHead = 5
const longestResponse = 4 * 2 ** 20

/** All `methods` (full names, `/package.Service/Method`) at once, on a connection of their own; each takes `limitMs` at most. Never rejects. */
export const callAll = async (
  socketPath: string,
  methods: ReadonlyArray<string>,
  limitMs: number
): Promise<ReadonlyArray<Reply>> => {
  const session = http2.connect("http://localhost", { createConnection: () => net.connect({ path: socketPath }) })
  session.on("error", () => {})
  try {
    return await Promise.all(methods.map((method) => call(session, method, limitMs)))
  } finally {
    session.destroy()
  }
}

interface Status {
  readonly code: number
  readonly message: string
}

const call = (session: http2.ClientHttp2Session, method: string, limitMs: number): Promise<Reply> =>
  new Promise((resolve) => {
    const from = performance.now()
    const chunks: Array<Buffer> = []
    let bytes = 0
    let status: Status = { code: grpcCode.unavailable, message: "the connection ended without an answer" }
    const stream = session.request({
      ":method": "POST",
      ":path": method,
      "content-type": "application/grpc",
      "grpc-timeout": `${limitMs}m`,
      te: "trailers"
    })
    const end = ({ code, message }: Status) => {
      clearTimeout(timer)
      const tookMs = performance.now() - from
      resolve({ code, message, response: code === grpcCode.ok ? unframed(chunks) : Buffer.alloc(0), tookMs })
    }
    const timer = setTimeout(() => {
      end({ code: grpcCode.deadlineExceeded, message: `no answer within ${limitMs / 1_000} s` })
      stream.close(http2.constants.NGHTTP2_CANCEL)
    }, limitMs)
    stream.on("response", (headers) => {
      status = statusIn(headers) ?? withoutStatus(headers[":status"])
    })
    stream.on("trailers", (trailers) => {
      status = statusIn(trailers) ?? status
    })
    stream.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > longestResponse) stream.close(http2.constants.NGHTTP2_CANCEL)
    })
    stream.on("error", ({ message }) => {
      status = { code: grpcCode.unavailable, message }
    })
    stream.on("close", () => end(status))
    stream.end(emptyRequest)
  })

const statusIn = (headers: http2.IncomingHttpHeaders): Status | undefined => {
  const code = headers["grpc-status"]
  if (code === undefined) return undefined
  return { code: Number(code), message: unescaped(String(headers["grpc-message"] ?? "")) }
}

/** As gRPC's clients take an answer of HTTP alone. */
const withoutStatus = (httpStatus = 0): Status => ({
  code: httpStatus === 404 ? grpcCode.unimplemented : grpcCode.unknown,
  message: `no gRPC status, HTTP status ${httpStatus}`
})

const unescaped = (message: string) => {
  try {
    return decodeURIComponent(message)
  } catch {
    return message
  }
}

/** The one message of a unary response. */
const unframed = (chunks: ReadonlyArray<Buffer>): Buffer => {
  const body = Buffer.concat(chunks)
  return body.length < frameHead ? Buffer.alloc(0) : body.subarray(frameHead, frameHead + body.readUInt32BE(1))
}
