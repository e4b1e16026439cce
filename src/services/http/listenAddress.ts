/** Listen addresses in Go's form, as `--http-endpoint` takes them. */
import * as net from "node:net"

/** No `host` means every interface, IPv4 and IPv6. */
export type ListenAddress = { readonly host: string | undefined; readonly port: number } | { readonly fault: string }

const maxPort = 65_535

/** A fault is worded as Go's own error, which people look up. */
export const parseListenAddress = (address: string): ListenAddress => {
  const invalid = (reason: string) => ({ fault: `listen tcp: address ${address}: ${reason}` })
  const bracketed = /^\[([^\]]*)\]:([^:]*)$/.exec(address)
  const parts = bracketed ?? /^([^:[\]]*):([^:]*)$/.exec(address)
  if (parts === null) return invalid(address.includes(":") ? "too many colons in address" : "missing port in address")
  const [, host = "", portText = ""] = parts
  if (!/^\+?\d*$/.test(portText)) {
    return /^-\d+$/.test(portText)
      ? invalid("invalid port")
      : { fault: `listen tcp: lookup tcp/${portText}: unknown port` }
  }
  const port = Number(portText)
  if (port > maxPort) return { fault: `listen tcp: address ${portText}: invalid port` }
  return { host: host === "" || host === "::" ? undefined : host, port }
}

/** Whether a host needs a look-up; Go prefers its IPv4 address, Node alone would take the first one listed. */
export const isName = (host: string) => net.isIP(host.replace(/%.*$/, "")) === 0
