/** Forms of `--csi-address`. Only unix sockets: the addresses that work upstream beside them have no known user. */
import * as path from "node:path"

import { maxSocketPathBytes, pathBytes } from "../socketPath.ts"

/** Where the driver listens, as an absolute path, or why the address cannot be used. */
export type CsiAddress = { readonly path: string } | { readonly fault: string }

const unixScheme = /^unix:/i

/** `/abs/path` is taken literally. After `unix:` the path is URL-decoded, as gRPC does; a relative one starts at the working directory. */
export const parseCsiAddress = (address: string): CsiAddress => {
  const refused = (why: string) => ({
    fault: `--csi-address=${JSON.stringify(address)} ${why}; give the path of the driver's unix socket, such as /csi/csi.sock`
  })
  if (address === "") return refused("is empty")
  let socketPath: string
  if (address.startsWith("/")) socketPath = address
  else if (unixScheme.test(address)) {
    const rest = address.slice("unix:".length)
    if (rest.startsWith("//") && !rest.startsWith("///")) {
      return refused("has a host between unix:// and the path; an absolute path needs three slashes")
    }
    if (rest.startsWith("///")) socketPath = rest.replace(/^\/+/, "/")
    else {
      try {
        socketPath = decodeURIComponent(rest.replace(/[?#].*$/s, ""))
      } catch {
        return refused("has a bad % escape")
      }
    }
    if (socketPath === "" || socketPath === "/") return refused("names no socket")
  } else return refused("is neither an absolute path nor a unix: address")

  const absolute = path.resolve(socketPath)
  if (absolute.includes("\0")) return refused("contains a zero byte")
  if (pathBytes(absolute) > maxSocketPathBytes) {
    return refused(`is ${pathBytes(absolute)} bytes long, a socket path has at most ${maxSocketPathBytes}`)
  }
  return { path: absolute }
}
