/** Claim: listen addresses mean what they mean to Go, and what is none is refused in its words. */
import * as dns from "node:dns"
import * as net from "node:net"

import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterEach, assert, describe, vi } from "vitest"

import { listen } from "../../../src/services/http/listen.ts"
import { parseListenAddress } from "../../../src/services/http/listenAddress.ts"
import { parseServices } from "../../../src/services/http/services.ts"

vi.mock("node:dns", async (original) => ({ ...(await original<typeof dns>()), lookup: vi.fn() }))
afterEach(() => vi.mocked(dns.lookup).mockReset())

const services = parseServices("# a comment\nhttp 81/tcp www # web\nntp 123/udp\nalt 8080/tcp http-alt\nbad x/tcp\n")
const parse = (address: string) => parseListenAddress(address, (name) => services.get(name))

const everywhere = (shown: string, port: number) => ({ kind: "everywhere", shown, port })
const ip = (host: string, port: number) => ({ kind: "ip", host, port })
const name = (host: string, port: number) => ({ kind: "name", host, port })

describe("parseListenAddress", () => {
  it.each([
    [":8080", everywhere("", 8080)],
    [":", everywhere("", 0)],
    ["[]:8080", everywhere("", 8080)],
    ["0.0.0.0:8080", everywhere("0.0.0.0", 8080)],
    ["[::]:8080", everywhere("0.0.0.0", 8080)],
    ["[0:0::0]:8080", everywhere("0.0.0.0", 8080)],
    ["[::%lo]:8080", everywhere("0.0.0.0", 8080)],
    ["127.0.0.1:8080", ip("127.0.0.1", 8080)],
    ["[127.0.0.1]:8080", ip("127.0.0.1", 8080)],
    ["[::ffff:127.0.0.1]:8080", ip("127.0.0.1", 8080)],
    ["[::1]:8080", ip("::1", 8080)],
    ["[2001:DB8::0001]:8080", ip("2001:db8::1", 8080)],
    ["[::1%lo]:8080", ip("::1%lo", 8080)],
    ["localhost:8080", name("localhost", 8080)],
    ["[localhost]:8080", name("localhost", 8080)],
    ["localhost:", name("localhost", 0)],
    ["a_b.c-d.:0", name("a_b.c-d.", 0)],
    ["localhost:http", name("localhost", 81)],
    ["localhost:www", name("localhost", 81)],
    ["localhost:http-alt", name("localhost", 8080)],
    ["localhost:https", name("localhost", 443)],
    ["localhost:+80", name("localhost", 80)],
    ["localhost:080", name("localhost", 80)],
    [":+", everywhere("", 0)],
    [":65535", everywhere("", 65535)]
  ])("%s", (address, expected) => {
    assert.deepEqual(parse(address), expected as never)
  })

  it.each([
    ["8080", "address 8080: missing port in address"],
    ["127.0.0.1", "address 127.0.0.1: missing port in address"],
    ["/a/b", "address /a/b: missing port in address"],
    ["[::1]", "address [::1]: missing port in address"],
    ["[::1]8080", "address [::1]8080: missing port in address"],
    ["::1:80", "address ::1:80: too many colons in address"],
    ["http://x:80", "address http://x:80: too many colons in address"],
    ["[::1]:80:80", "address [::1]:80:80: too many colons in address"],
    ["[::1:80", "address [::1:80: missing ']' in address"],
    ["a[b]:80", "address a[b]:80: unexpected '[' in address"],
    ["a]b:80", "address a]b:80: unexpected ']' in address"],
    [":99999", "address 99999: invalid port"],
    [":-1", "address -1: invalid port"],
    [":70000", "address 70000: invalid port"],
    [":99999999999999999999", "address 99999999999999999999: invalid port"],
    [":abc", "lookup tcp/abc: unknown port"],
    [":ntp", "lookup tcp/ntp: unknown port"],
    [":0x50", "lookup tcp/0x50: unknown port"],
    [":80 ", "lookup tcp/80 : unknown port"],
    ["*:80", "lookup *: no such host"],
    ["0:80", "lookup 0: no such host"],
    ["127.1:80", "lookup 127.1: no such host"],
    ["256.0.0.1:80", "lookup 256.0.0.1: no such host"],
    ["-x:80", "lookup -x: no such host"],
    ["a b:80", "lookup a b: no such host"],
    ["127.0.0.1%lo:80", "lookup 127.0.0.1%lo: no such host"]
  ])("%s is refused", (address, reason) => {
    assert.deepEqual(parse(address), { kind: "fault", reason: `listen tcp: ${reason}` })
  })
})

const opened = (endpoint: string) =>
  Effect.acquireRelease(
    Effect.sync(() => net.createServer()),
    (server) => Effect.sync(() => server.close())
  ).pipe(
    Effect.tap((server) => listen(server, endpoint)),
    Effect.map((server) => server.address() as net.AddressInfo)
  )

/** A machine whose hosts file lists `::1` before `127.0.0.1`. */
const ipv6Listed = ((_: string, options: dns.LookupAllOptions, done: (...args: ReadonlyArray<unknown>) => void) => {
  const listed = [
    { address: "::1", family: 6 },
    { address: "127.0.0.1", family: 4 }
  ]
  done(null, options.order === "ipv4first" ? listed.reverse() : listed)
}) as never

describe("listen", () => {
  it.effect("takes the IPv4 address of a name, even if it is listed last", () =>
    Effect.gen(function* () {
      vi.mocked(dns.lookup).mockImplementation(ipv6Listed)

      assert.equal((yield* opened("localhost:0")).address, "127.0.0.1")
    })
  )

  it.effect("is dual stack without a host, and takes any port where none is named", () =>
    Effect.gen(function* () {
      const address = yield* opened(":")

      assert.equal(address.address, "::")
      assert.isAbove(address.port, 0)
    })
  )

  it.effect.each([
    ["192.0.2.1:80", "listen tcp 192.0.2.1:80: bind: cannot assign requested address"],
    ["[2001:db8::1]:80", "listen tcp [2001:db8::1]:80: bind: cannot assign requested address"],
    ["nobody.invalid:80", "listen tcp: lookup nobody.invalid: no such host"]
  ] as const)("says why not, in Go's words: %s", ([endpoint, reason]) =>
    Effect.gen(function* () {
      vi.mocked(dns.lookup).mockImplementation(((_: string, __: object, done: (error: Error) => void) =>
        done(new Error("ENOTFOUND"))) as never)

      assert.equal((yield* Effect.flip(opened(endpoint))).message, reason)
    })
  )
})
