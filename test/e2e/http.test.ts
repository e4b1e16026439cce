/**
 * Claim: to whoever speaks HTTP, the endpoint is upstream's Go server: every path and method is answered as there, and most bad requests, byte for byte
 * but for the date. The texts were taken from Go 1.26; rows in which node:http decides otherwise are named in HttpServer.ts. Only what a path answers
 * depends on the state: before there is a socket, upstream's port is closed.
 */
import { expect } from "vitest"

import { answers, asks, exchange, request } from "../services/http/rawHttp.ts"
import { Http } from "./Http.ts"
import { states } from "./states.ts"
import { it, type World } from "./World.ts"

const { plain, notFound, redirect, redirectOfHead, redirectOfOthers, refused, withoutBody } = answers
const ok = (...more: ReadonlyArray<string>) => plain("200 OK", "ok", ...more)
const unavailable = (reason: string) => plain("503 Service Unavailable", reason)
const bad = refused("400 Bad Request")

const portOf = ({ flag }: Http) => Number(flag.slice(flag.lastIndexOf(":") + 1))

const methods = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "TRACE",
  "OPTIONS",
  "CONNECT",
  "FOO",
  "M-SEARCH",
  "get"
]

/** What lies behind a path, where there is something. */
type Endpoint = "healthz" | "livez" | "readyz"
const endpoints: Record<"connecting" | "listening" | "registered", (world: World) => Record<Endpoint, string>> = {
  connecting: ({ root }) => {
    const missing = unavailable(`connecting: ${root}/csi.sock does not exist`)
    return { healthz: missing, livez: ok(), readyz: missing }
  },
  listening: () => ({
    healthz: ok(),
    livez: ok(),
    readyz: unavailable("listening: the kubelet has not called yet")
  }),
  registered: () => ({ healthz: ok(), livez: ok(), readyz: ok() })
}

const found: ReadonlyArray<readonly [target: string, endpoint: Endpoint]> = [
  ["/healthz", "healthz"],
  ["/livez", "livez"],
  ["/readyz", "readyz"],
  ["/%68ealthz", "healthz"],
  ["/readyz?", "readyz"],
  ["/healthz?a=b&%zz?", "healthz"]
]

const nowhere = [
  "/",
  "/metrics/",
  "/healthz/",
  "/Healthz",
  "/healthz%2f",
  "/healthz%20",
  "/healthz#x",
  "/%2e%2e/healthz",
  "/debug/pprof/",
  "/debug/pprof",
  "/debug/pprof/heap",
  "/debug/pprof/profile"
]

const unclean: ReadonlyArray<readonly [target: string, location: string, shown?: string]> = [
  ["//healthz", "/healthz"],
  ["/x/../healthz", "/healthz"],
  ["/healthz/.", "/healthz"],
  ["/healthz//", "/healthz/"],
  ["/..", "/"],
  ["//evil.example.com/..", "/"],
  ["/./livez?a=b", "/livez?a=b"],
  ["//healthz?a=<b>&c=\"d'", "/healthz?a=<b>&c=\"d'", "/healthz?a=&lt;b&gt;&amp;c=&#34;d&#39;"],
  ["//a%20b", "/a%2520b"]
]

const ofMethod = (method: string, answer: string) => (method === "HEAD" ? withoutBody(answer) : answer)

const redirected = (method: string, [, location, shown]: (typeof unclean)[number]) => {
  if (method === "CONNECT") return notFound()
  if (method === "GET") return redirect(location, shown)
  return method === "HEAD" ? redirectOfHead(location) : redirectOfOthers(location)
}

it.for(Object.keys(endpoints) as Array<keyof typeof endpoints>)(
  "in %s every path is answered as Go's, for every method",
  async (state, { world }) => {
    const http = await Http.open()
    await states[state](world, http.flag)
    const answered = endpoints[state](world)
    const expected: Record<string, string> = {}
    for (const method of methods) {
      for (const [target, endpoint] of found) expected[`${method} ${target}`] = ofMethod(method, answered[endpoint])
      for (const target of nowhere) expected[`${method} ${target}`] = ofMethod(method, notFound())
      for (const row of unclean) expected[`${method} ${row[0]}`] = redirected(method, row)
    }

    const heard = await Promise.all(
      Object.keys(expected).map(async (line) => {
        const [method = "", target = ""] = line.split(/ (.*)/s)
        return [line, await exchange(portOf(http), asks(method, target))]
      })
    )

    expect(Object.fromEntries(heard)).toEqual(expected)
  }
)

const star = (status: string, ...headers: ReadonlyArray<string>) => request(`HTTP/1.1 ${status}`, ...headers)
const badStar = star("400 Bad Request", "Connection: close", "Date: now", "Content-Length: 0")
const unsupportedVersion = refused("505 HTTP Version Not Supported: unsupported protocol version")
const missingHost = refused("400 Bad Request: missing required Host header")
const unsupportedCoding = refused("501 Not Implemented", "Unsupported transfer encoding")
const tooLarge = refused("431 Request Header Fields Too Large")
const unexpected = star("417 Expectation Failed", "Connection: close", "Date: now", "Content-Length: 0")

const conversations: Record<string, readonly [sent: string, heard: string]> = {
  "GET *": [asks("GET", "*"), badStar],
  "HEAD *": [asks("HEAD", "*"), star("400 Bad Request", "Connection: close", "Date: now")],
  "CONNECT *": [asks("CONNECT", "*"), badStar],
  "OPTIONS *": [asks("OPTIONS", "*"), star("200 OK", "Content-Length: 0", "Date: now")],
  "CONNECT to an authority": [asks("CONNECT", "localhost:80"), notFound()],
  "CONNECT without a host": [request("CONNECT /healthz HTTP/1.1"), ok()],
  "CONNECT that asks for the end": [asks("CONNECT", "/healthz", "Connection: close"), ok("Connection: close")],
  "an absolute target, whatever its host": [asks("GET", "http://anybody:99/healthz"), ok()],
  "an absolute target without a path": [asks("GET", "http://anybody"), redirect("/")],

  "close, asked for": [asks("GET", "/healthz", "Connection: close") + asks("GET", "/"), ok("Connection: close")],
  "Close in a list": [asks("GET", "/x", "connection: foo, Close"), notFound("Connection: close")],
  "keep-alive, asked for": [asks("GET", "/healthz", "Connection: keep-alive"), ok()],
  "an upgrade": [asks("GET", "/healthz", "Connection: Upgrade", "Upgrade: websocket"), ok()],
  "HTTP/1.0": [request("GET /healthz HTTP/1.0") + asks("GET", "/"), ok()],
  "HTTP/1.0, kept alive": [
    request("GET /healthz HTTP/1.0", "Connection: keep-alive") + request("HEAD /x HTTP/1.0"),
    ok("Connection: keep-alive") + withoutBody(notFound())
  ],
  "an empty host": [request("GET /healthz HTTP/1.1", "Host:"), ok()],
  "many requests at once": [
    asks("GET", "/healthz") + asks("HEAD", "/healthz") + asks("PUT", "/livez") + asks("GET", "/x"),
    ok() + withoutBody(ok()) + ok() + notFound()
  ],
  "many requests at once, the last one CONNECT": [
    asks("GET", "/healthz") + asks("GET", "/x") + asks("CONNECT", "/healthz") + asks("GET", "/x"),
    ok() + notFound() + ok()
  ],
  "many requests at once, the last one FOO": [
    asks("GET", "/healthz") + asks("GET", "/x") + asks("FOO", "/healthz") + asks("GET", "/x"),
    ok() + notFound() + ok()
  ],
  "a good request, then garbage": [`${asks("GET", "/healthz")}garbage\r\n`, ok() + bad],
  "a body": [`${asks("POST", "/healthz", "Content-Length: 3")}abc${asks("GET", "/x")}`, ok() + notFound()],
  "a body in chunks": [
    `${asks("POST", "/healthz", "Transfer-Encoding: chunked")}3\r\nabc\r\n0\r\n\r\n${asks("GET", "/x")}`,
    ok() + notFound()
  ],
  "a long body": [
    `${asks("POST", "/healthz", "Content-Length: 300000")}${"a".repeat(300_000)}${asks("GET", "/x")}`,
    ok() + notFound()
  ],
  "a body that is asked for": [
    asks("POST", "/healthz", "Expect: 100-continue", "Content-Length: 3"),
    ok("Connection: close")
  ],
  "a continuation without a body": [asks("GET", "/healthz", "Expect: 100-continue"), ok()],

  "no slash in front": [asks("GET", "healthz"), bad],
  "a bad percent sign": [asks("GET", "/%"), bad],
  "a bad percent sign, for FOO": [asks("FOO", "/%zz"), bad],
  "a control character": [asks("GET", "/\x01"), bad],
  "no method": [request(" /healthz HTTP/1.1", "Host: x"), bad],
  "a method that is none": [request("G@T /healthz HTTP/1.1", "Host: x"), bad],
  "HTTP/0.9": [request("GET /healthz HTTP/0.9", "Host: x"), unsupportedVersion],
  "HTTP/2.0": [request("GET /healthz HTTP/2.0", "Host: x"), unsupportedVersion],
  "HTTP/3.0": [request("GET /healthz HTTP/3.0", "Host: x"), unsupportedVersion],
  "the preface of HTTP/2": ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", bad],
  TLS: ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", bad],
  garbage: ["garbage\r\n", bad],
  "half a request": ["GET /heal", bad],
  "half a head": ["GET /healthz HTTP/1.1\r\nHost: x\r\n", bad],
  nothing: ["", ""],
  "no host": [request("GET /healthz HTTP/1.1"), missingHost],
  "two hosts": [request("GET /healthz HTTP/1.1", "Host: a", "Host: b"), bad],
  "a header without a colon": [asks("GET", "/healthz", "foo"), bad],
  "a header without a name": [asks("GET", "/healthz", ": foo"), bad],
  "a control character in a header": [asks("GET", "/healthz", "foo: \x01"), bad],
  "a bad length": [asks("POST", "/healthz", "Content-Length: +1"), bad],
  "two lengths": [asks("POST", "/healthz", "Content-Length: 1", "Content-Length: 2"), bad],
  "a coding that is not known": [asks("POST", "/healthz", "Transfer-Encoding: gzip"), unsupportedCoding],
  "two codings": [asks("POST", "/healthz", "Transfer-Encoding: gzip, chunked"), unsupportedCoding],
  "an expectation that is not known": [asks("GET", "/healthz", "Expect: foo"), unexpected],
  "a head of 16 KB": [asks("GET", "/healthz", `Foo: ${"a".repeat(16_000)}`), ok()],
  "thousands of spaces": [asks("GET", "/healthz", `Foo: a${" ".repeat(16_000)}b`), ok()],
  "thousands of digits": [asks("GET", "/healthz", `Content-Length: ${"9".repeat(16_000)}`), bad],
  "thousands of zeros": [asks("GET", "/healthz", `Content-Length: ${"0".repeat(16_000)}`), ok()],
  "hundreds of headers": [asks("GET", "/healthz", ...Array<string>(900).fill("a: b")), ok()],
  "a target that is too long": [asks("GET", `/${"a".repeat(17_000)}`), tooLarge],
  "a head that is too long": [asks("GET", "/healthz", `Foo: ${"a".repeat(1_100_000)}`), tooLarge]
}

it("good and bad requests, one after the other and at once, are answered", async ({ world }) => {
  const http = await Http.open()
  await states.listening(world, http.flag)

  const heard = await Promise.all(
    Object.entries(conversations).map(async ([what, [sent]]) => [what, await exchange(portOf(http), sent)])
  )

  expect(Object.fromEntries(heard)).toEqual(
    Object.fromEntries(Object.entries(conversations).map(([what, [, answer]]) => [what, answer]))
  )
})

it("readiness as JSON is had by any method, and redirects keep what asked for it", async ({ world }) => {
  const http = await Http.open()
  await states.registered(world, http.flag)

  const text = await exchange(portOf(http), asks("FOO", "/readyz?verbose"))
  const [head = "", body = ""] = text.split("\r\n\r\n")
  expect(JSON.parse(body)).toMatchObject({ ready: true, state: "registered" })
  expect(head.split("\r\n")).toEqual([
    "HTTP/1.1 200 OK",
    "Content-Type: application/json",
    "Date: now",
    `Content-Length: ${body.length}`
  ])
  expect(await exchange(portOf(http), asks("HEAD", "/readyz?verbose"))).toBe(`${head}\r\n\r\n`)
  expect(await exchange(portOf(http), asks("GET", "//readyz?verbose"))).toBe(redirect("/readyz?verbose"))
})
