/** Claim: a path is cleaned as Go does it and as nobody can misuse it, and each target goes where Go's ServeMux sends it. */
import { posix } from "node:path"

import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { cleanPath, destination, parseTarget } from "../../../src/services/http/goMux.ts"

const routes = new Set([
  "/healthz",
  "/livez",
  "/debug/pprof/",
  "/debug/pprof/heap",
  "/debug/machine",
  "/debug/machine/events"
])

const pieces = [
  "/",
  "//",
  ".",
  "..",
  "...",
  "a",
  "healthz",
  "debug/pprof",
  "%64ebug",
  "pprof",
  "%2e",
  "%2F",
  "%",
  "?",
  "#",
  "é",
  "\\",
  ":",
  "@",
  "evil.com",
  " ",
  "\t"
]
const somePath = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => `/${parts.join("")}`)
const someTarget = fc.oneof(
  fc
    .array(fc.constantFrom(...pieces, "http:", "//host", "[::1]", "*"), { maxLength: 10 })
    .map((parts) => parts.join("")),
  fc.string({ unit: "binary" })
)
const someMethod = fc.constantFrom("GET", "HEAD", "POST", "CONNECT", "OPTIONS", "FOO")

/** The location, if the method and the target lead to a redirect. */
const redirected = (method: string, target: string): string | undefined => {
  const parsed = parseTarget(method, target)
  const to = parsed === undefined ? undefined : destination(method, parsed, routes)
  return to?.kind === "redirect" ? to.location : undefined
}

describe("cleanPath", () => {
  it("equals what the standard library makes of a rooted path", () => {
    fc.assert(fc.property(somePath, (path) => assert.equal(cleanPath(path), posix.normalize(path))))
  })

  it("changes nothing the second time", () => {
    fc.assert(fc.property(somePath, (path) => assert.equal(cleanPath(cleanPath(path)), cleanPath(path))))
  })

  it("never escapes: one slash in front, and no segment that goes nowhere, stays or climbs", () => {
    fc.assert(
      fc.property(fc.oneof(somePath, fc.string()), (path) => {
        const clean = cleanPath(path)
        assert.match(clean, /^\/(?!\/)/)
        assert.notMatch(clean, /\/\/|\/\.{1,2}(?=\/|$)/)
      })
    )
  })
})

describe("destination", () => {
  const goes = (method: string, target: string) => {
    const parsed = parseTarget(method, target)
    if (parsed === undefined) return "refused"
    const to = destination(method, parsed, routes)
    return to.kind === "redirect" ? `to ${to.location}` : to.kind === "route" ? `route ${to.path}` : to.kind
  }

  it("is found or refused for any target, without an exception", () => {
    fc.assert(fc.property(someMethod, someTarget, (method, target) => void redirected(method, target)))
  })

  it("never redirects to another host, and never twice", () => {
    fc.assert(
      fc.property(someMethod, someTarget, (method, target) => {
        const location = redirected(method, target)
        if (location === undefined) return
        assert.match(location, /^\/(?![/\\])/)
        assert.isUndefined(redirected(method, location))
      })
    )
  })

  it("redirects CONNECT only to where a slash is missing", () => {
    fc.assert(
      fc.property(someTarget, (target) => {
        const location = redirected("CONNECT", target)
        if (location === undefined) return
        const path = parseTarget("CONNECT", target)?.path ?? ""
        assert.include(path.replace("%64", "d"), "/debug/pprof")
        assert.isFalse(path.endsWith("/"))
        assert.match(location, /^[^?]*\/debug\/pprof\/(\?|$)/)
      })
    )
  })

  it("finds a route of several segments, however its letters are escaped", () => {
    const escaped = fc
      .array(fc.boolean(), { minLength: 16, maxLength: 16 })
      .map((picks) =>
        Array.from("/debug/pprof/heap", (letter, i) =>
          letter !== "/" && picks[i % 16] === true ? `%${letter.charCodeAt(0).toString(16)}` : letter
        ).join("")
      )
    fc.assert(fc.property(escaped, (path) => assert.equal(goes("GET", path), "route /debug/pprof/heap")))
  })

  it.each([
    ["GET", "/healthz", "route /healthz"],
    ["FOO", "/livez?x#y", "route /livez"],
    ["GET", "/%68ealth%7A", "route /healthz"],
    ["GET", "/healthz?%zz", "route /healthz"],
    ["GET", "http://anybody:80/healthz", "route /healthz"],
    ["GET", "foo://user:pw@[::1]/healthz", "route /healthz"],
    ["GET", "http:/healthz", "route /healthz"],
    ["CONNECT", "/healthz", "route /healthz"],
    ["GET", "/debug/pprof/", "route /debug/pprof/"],
    ["GET", "/debug/pprof/heap?gc=1", "route /debug/pprof/heap"],
    ["FOO", "/%64ebug/ppro%66/%68eap", "route /debug/pprof/heap"],
    ["CONNECT", "/debug/pprof/heap", "route /debug/pprof/heap"],
    ["GET", "/debug/pprof", "to /debug/pprof/"],
    ["GET", "/debug/pprof?a=b?c", "to /debug/pprof/?a=b?c"],
    ["GET", "/%64ebug/pprof", "to /debug/pprof/"],
    ["GET", "//debug//pprof", "to /debug/pprof/"],
    ["GET", "/debug/pprof/.", "to /debug/pprof/"],
    ["GET", "/debug/pprof/x/..", "to /debug/pprof/"],
    ["GET", "/x%2fy/../debug/pprof", "to /x/debug/pprof/"],
    ["GET", "/x%2f..%2f..%2f../../debug/pprof", "to /debug/pprof/"],
    ["GET", "/debug/pprof/x%2f..%2f..%2f../..", "to /"],
    ["CONNECT", "/debug/pprof", "to /debug/pprof/"],
    ["CONNECT", "localhost:80/debug/pprof", "to /debug/pprof/"],
    ["CONNECT", "//debug/pprof", "notFound"],
    ["CONNECT", "/debug//pprof/", "notFound"],
    ["GET", "/debug//pprof/", "to /debug/pprof/"],
    ["GET", "//%64ebug/pprof/", "to /%2564ebug/pprof/"],
    ["GET", "/debug", "notFound"],
    ["GET", "/debug/", "notFound"],
    ["GET", "/debug/pprof%2f", "notFound"],
    ["GET", "/debug%2fpprof/", "notFound"],
    ["GET", "/debug/pprof/%2f", "notFound"],
    ["GET", "/debug/pprof/heap/", "notFound"],
    ["GET", "/debug/pprof/heap/x", "notFound"],
    ["GET", "/debug/heap", "notFound"],
    ["GET", "/debug/machine", "route /debug/machine"],
    ["GET", "/debug/machine/events?x=/y", "route /debug/machine/events"],
    ["GET", "/%64ebug/machine/event%73", "route /debug/machine/events"],
    ["GET", "http://anybody/debug/machine", "route /debug/machine"],
    ["CONNECT", "/debug/machine", "route /debug/machine"],
    ["GET", "/debug%2fmachine", "notFound"],
    ["GET", "/debug/machine%2Fevents", "notFound"],
    ["GET", "/debug/machine/", "notFound"],
    ["GET", "/debug/machine/events/x", "notFound"],
    ["GET", "/debug/%2e%2e/healthz", "notFound"],
    ["CONNECT", "/debug//machine", "notFound"],
    ["GET", "//debug/./machine", "to /debug/machine"],
    ["GET", "/debug/x/../machine?a=b", "to /debug/machine?a=b"],
    ["GET", "/healthz#x", "notFound"],
    ["GET", "/healthz%2f", "notFound"],
    ["GET", "/healthz%3Fx", "notFound"],
    ["GET", "/%2e%2e/healthz", "notFound"],
    ["CONNECT", "//healthz", "notFound"],
    ["CONNECT", "localhost:80", "notFound"],
    ["CONNECT", "http://localhost/healthz", "notFound"],
    ["GET", "//healthz", "to /healthz"],
    ["GET", "/x/../healthz?a=b?c", "to /healthz?a=b?c"],
    ["GET", "//healthz?", "to /healthz"],
    ["GET", "/..//livez/./", "to /livez/"],
    ["GET", "//evil.com/..", "to /"],
    ["GET", "//evil.com", "to /evil.com"],
    ["GET", "//\\evil.com", "to /%255Cevil.com"],
    ["GET", "//a%20b", "to /a%2520b"],
    ["GET", "http://anybody", "to /"],
    ["GET", "anybody:80", "to /"],
    ["GET", "*", "asterisk"],
    ["CONNECT", "*", "asterisk"],
    ["OPTIONS", "*", "options"],
    ["GET", "", "refused"],
    ["GET", "healthz", "refused"],
    ["GET", "?", "refused"],
    ["GET", "://x", "refused"],
    ["GET", "1http://x/healthz", "refused"],
    ["GET", "/%", "refused"],
    ["GET", "/%zz", "refused"],
    ["GET", "/\x01", "refused"],
    ["GET", "/\x7f", "refused"],
    ["GET", "http://h:port/healthz", "refused"],
    ["GET", "http://[::1/healthz", "refused"],
    ["GET", "http://[127.0.0.1]/healthz", "refused"],
    ["GET", "http://a b/healthz", "refused"],
    ["GET", "http://a%20b/healthz", "refused"],
    ["GET", "http://u\\@h/healthz", "refused"]
  ])("%s %s: %s", (method, target, expected) => {
    assert.equal(goes(method, target), expected)
  })
})
