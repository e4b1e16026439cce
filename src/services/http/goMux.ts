/**
 * Where a request goes, as Go's net/http decides it (1.26: net/url and ServeMux): pure, from method and request target to a destination.
 *
 * Text is Latin-1 here, a character a byte, since Go's rules are about bytes. Two of its habits are kept because clients see them: a path is compared
 * after unescaping but cleaned before it, and a redirect escapes the escaped path once more (`//a%20b` goes to `/a%2520b`), unless it adds a slash.
 */
import { isIPv6 } from "node:net"

/** No route is longer, however it is escaped; a path can have a million bytes. */
const maxRouteBytes = 256

/** A request target that is one. */
export interface Target {
  /** As in the request line. */
  readonly raw: string
  /** Escaped, from its first slash; empty when the target has none, as in `CONNECT host:80`. */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
}

export type Destination =
  | { readonly kind: "route"; readonly path: string }
  /** `location` may hold bytes of a query that are no ASCII. */
  | { readonly kind: "redirect"; readonly location: string }
  | { readonly kind: "notFound" }
  /** `OPTIONS *` asks about the server as a whole. */
  | { readonly kind: "options" }
  /** `*` with another method. */
  | { readonly kind: "asterisk" }

/** Nothing for a target that Go answers with 400. */
export const parseTarget = (method: string, raw: string): Target | undefined => {
  const authorityOnly = method === "CONNECT" && !raw.startsWith("/")
  const url = authorityOnly ? `http://${raw}` : raw
  if (url === "" || /[\0- \x7f]/.test(url)) return undefined
  if (url === "*") return { raw, path: "*", query: "" }
  const scheme = /^(?:([a-z][a-z\d+.-]*)?:)?/i.exec(url) ?? [""]
  if (scheme[0] === ":") return undefined
  const [rest, query] = cut(url.slice(scheme[0].length), "?")
  const name = scheme[1]?.toLowerCase()
  if (!rest.startsWith("/")) return name === undefined ? undefined : { raw, path: "", query }
  if (name === undefined || !rest.startsWith("//")) return withPath(raw, rest, query)
  const slash = rest.indexOf("/", 2)
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash)
  return validAuthority(name, authority) ? withPath(raw, slash < 0 ? "" : rest.slice(slash), query) : undefined
}

/** `routes` are exact paths, without escapes. One that ends with a slash is redirected to from the path without it. */
export const destination = (method: string, target: Target, routes: { has(path: string): boolean }): Destination => {
  if (target.raw === "*") return { kind: method === "OPTIONS" ? "options" : "asterisk" }
  const { path, query } = target
  const redirectTo = (to: string): Destination => ({
    kind: "redirect",
    location: escape(to) + (query === "" ? "" : `?${query}`)
  })
  const clean = method === "CONNECT" ? path : cleanPath(path)
  const route = routeOf(clean, routes)
  // Here Go cleans the path without its escapes, and makes no exception for CONNECT. Where that leads to `//`, another host, we say `/`.
  if (route === undefined && clean !== "" && routeOf(`${clean}/`, routes) !== undefined) {
    return redirectTo(cleanPath(`${unescape(path)}/`))
  }
  if (clean !== path) return redirectTo(clean)
  return route === undefined ? { kind: "notFound" } : { kind: "route", path: route }
}

/** Compared segment by segment, each unescaped: an escaped slash separates nothing. */
const routeOf = (path: string, routes: { has(path: string): boolean }): string | undefined => {
  if (path.length > maxRouteBytes) return undefined
  const segments = path.split("/").map(unescape)
  const route = segments.join("/")
  return routes.has(route) && !segments.some((segment) => segment.includes("/")) ? route : undefined
}

/** The shortest path that means the same: no `//`, `.` or `..`; a slash at the end stays. */
export const cleanPath = (path: string): string => {
  const kept: Array<string> = []
  for (const segment of path.split("/")) {
    if (segment === "..") kept.pop()
    else if (segment !== "" && segment !== ".") kept.push(segment)
  }
  return kept.length === 0 ? "/" : `/${kept.join("/")}${path.endsWith("/") ? "/" : ""}`
}

const cut = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
}

const withPath = (raw: string, path: string, query: string): Target | undefined => {
  if (!wellEscaped(path)) return undefined
  return { raw, path: /[^\w.~!$&'()*+,;=:@[\]%/-]/.test(path) ? escape(unescape(path)) : path, query }
}

const wellEscaped = (text: string) => !/%(?![\da-f]{2})/i.test(text)

const unescape = (text: string) =>
  text.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

const escapes = Array.from({ length: 256 }, (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)

const escape = (text: string) => text.replace(/[^\w.~$&+,/:;=@-]/g, (byte) => escapes[byte.charCodeAt(0)] ?? byte)

const validAuthority = (scheme: string, authority: string): boolean => {
  const at = authority.lastIndexOf("@")
  const user = at < 0 ? "" : authority.slice(0, at)
  return /^[\w.:~!$&'()*+,;=%@-]*$/.test(user) && wellEscaped(user) && validHost(scheme, authority.slice(at + 1))
}

const validHost = (scheme: string, host: string): boolean => {
  const literal = /^\[([^[]*)\](?::\d*)?$/.exec(host)
  if (literal !== null) {
    const [address = "", zone] = (literal[1] ?? "").split(/%25(.*)/, 2) as [string, string?]
    return isIPv6(zone === undefined ? address : `${address}%${zone}`) && (zone === undefined || wellEscaped(zone))
  }
  if (host.includes("[")) return false
  const strict = scheme === "http" || scheme === "https"
  const colon = strict ? host.indexOf(":") : host.lastIndexOf(":")
  if (colon >= 0 && !/^:\d*$/.test(host.slice(colon))) return false
  return wellEscaped(host) && !/%(?!25)[0-7]/.test(host) && /^[\w.~!$&'()*+,;=:[\]<>"%\x80-\xff-]*$/.test(host)
}
