/** Listen addresses in Go's form, as `--http-endpoint` takes them. Pure: names are looked up by whoever listens. */
import * as net from "node:net"

export type ListenAddress =
  /** Every interface, IPv4 and IPv6. `shown` is its name in errors. */
  | { readonly kind: "everywhere"; readonly shown: string; readonly port: number }
  | { readonly kind: "ip"; readonly host: string; readonly port: number }
  | { readonly kind: "name"; readonly host: string; readonly port: number }
  /** Worded as Go's own error, which people look up. */
  | { readonly kind: "fault"; readonly reason: string }

const maxPort = 65_535

/** `servicePort` answers the port of a service name, such as `http`. */
export const parseListenAddress = (
  address: string,
  servicePort: (name: string) => number | undefined
): ListenAddress => {
  const split = splitHostPort(address)
  if (typeof split === "string") return fault(`address ${address}: ${split}`)
  const [host, service] = split
  const port = /^[+-]?\d*$/.test(service) ? Number(service.replace(/^[+-]$/, "")) : servicePort(service)
  if (port === undefined) return fault(`lookup tcp/${service}: unknown port`)
  if (port < 0 || port > maxPort) return fault(`address ${service}: invalid port`)
  if (host === "") return { kind: "everywhere", shown: "", port }
  const ip = literal(host)
  if (ip === "0.0.0.0" || ip === "::") return { kind: "everywhere", shown: "0.0.0.0", port }
  if (ip !== undefined) return { kind: "ip", host: ip, port }
  return isDomainName(host) ? { kind: "name", host, port } : fault(`lookup ${host}: no such host`)
}

const fault = (reason: string): ListenAddress => ({ kind: "fault", reason: `listen tcp: ${reason}` })

const missingPort = "missing port in address"
const tooManyColons = "too many colons in address"

/** What is wrong, or host and port. Brackets are for hosts with colons. */
const splitHostPort = (address: string): string | readonly [host: string, port: string] => {
  const colon = address.lastIndexOf(":")
  if (colon < 0) return missingPort
  const end = address.indexOf("]")
  const bracketed = address.startsWith("[")
  if (bracketed && end < 0) return "missing ']' in address"
  if (bracketed && end + 1 !== colon) return address[end + 1] === ":" ? tooManyColons : missingPort
  const host = bracketed ? address.slice(1, end) : address.slice(0, colon)
  if (!bracketed && host.includes(":")) return tooManyColons
  if (address.includes("[", bracketed ? 1 : 0)) return "unexpected '[' in address"
  if (address.includes("]", bracketed ? end + 1 : 0)) return "unexpected ']' in address"
  return [host, address.slice(colon + 1)]
}

/** An IP address in its shortest form. Node's own check takes the zone. */
const literal = (host: string): string | undefined => {
  if (net.isIPv4(host)) return host
  if (!net.isIPv6(host)) return undefined
  const [address = "", zone] = host.split("%", 2)
  const short = new net.SocketAddress({ address, family: "ipv6" }).address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(short)?.[1]
  return mapped ?? (zone === undefined || short === "::" ? short : `${short}%${zone}`)
}

/** Go asks no resolver for anything else; the one of libc would take `127.1` and `0` for addresses. */
const isDomainName = (name: string): boolean =>
  name.length <= 254 && /[a-z_-]/i.test(name) && /^(?:[\w](?:[\w-]{0,61}\w)?\.)*\w(?:[\w-]{0,61}\w)?\.?$/.test(name)
