/** Binds a TCP server to an address in Go's form, and says why not in Go's words. */
import * as dns from "node:dns"
import type * as net from "node:net"

import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

import { codeOf } from "../codeOf.ts"
import { reasonOf } from "../unixSocket.ts"
import { parseListenAddress } from "./listenAddress.ts"
import { servicePort } from "./services.ts"

/** The address cannot be listened on; nothing has been announced yet. */
export class HttpAddressError extends Data.TaggedError("HttpAddressError")<{ readonly reason: string }> {
  override get message() {
    return this.reason
  }
}

/** Reasons that only an address of a network has. */
const bindReasons: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: "cannot assign requested address",
  EINVAL: "invalid argument"
}

/** Go listens at a name's IPv4 address where it has one; Node alone would take the one listed first, which for `localhost` can be `::1`. */
const lookup4First = (host: string) =>
  Effect.callback<string, HttpAddressError>((resume) => {
    dns.lookup(host, { all: true, order: "ipv4first" }, (error, addresses) => {
      const [first] = addresses ?? []
      resume(
        error !== null || first === undefined
          ? Effect.fail(new HttpAddressError({ reason: `listen tcp: lookup ${host}: no such host` }))
          : Effect.succeed(first.address)
      )
    })
  })

/** Succeeds once the server listens. Trouble that it has later, such as no descriptor for a connection, goes unheard, and it goes on. */
export const listen = Effect.fnUntraced(function* (server: net.Server, endpoint: string) {
  const address = parseListenAddress(endpoint, servicePort)
  if (address.kind === "fault") return yield* new HttpAddressError({ reason: address.reason })
  const { port } = address
  const host =
    address.kind === "everywhere"
      ? undefined
      : address.kind === "name"
        ? yield* lookup4First(address.host)
        : address.host
  const shown = address.kind === "everywhere" ? address.shown : host?.includes(":") ? `[${host}]` : host
  yield* Effect.callback<void, HttpAddressError>((resume) => {
    server.on("error", (error) =>
      resume(
        Effect.fail(
          new HttpAddressError({
            reason: `listen tcp ${shown}:${port}: bind: ${bindReasons[codeOf(error)] ?? reasonOf(error)}`
          })
        )
      )
    )
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => resume(Effect.void))
  })
})
