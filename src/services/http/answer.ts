/** Writes answers with the headers of Go's net/http, in its order, and none that node:http would add. */
import type { ServerResponse } from "node:http"

export interface Answer {
  readonly status: keyof typeof phrases
  /** Latin-1, a character a byte; see `utf8`. */
  readonly body: string
  /** Goes in front of what is added to each answer. Names are in their order. */
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
  /** In place of `body`, which is empty then: writes the rest after the head, for as long as it takes, and ends the response. */
  readonly stream?: (response: ServerResponse) => void
}

/** Told in place of an answer to what is no proper request; the connection ends. */
export interface Refusal {
  readonly status: number
  readonly phrase: string
  /** The status line again where it is left out. */
  readonly body?: string
}

const phrases = {
  200: "OK",
  307: "Temporary Redirect",
  400: "Bad Request",
  404: "Not Found",
  405: "Method Not Allowed",
  417: "Expectation Failed",
  500: "Internal Server Error",
  503: "Service Unavailable"
} as const

export const utf8 = (text: string): string => Buffer.from(text, "utf8").toString("latin1")

const plain = "text/plain; charset=utf-8"

export const notFound: Answer = {
  status: 404,
  body: "404 page not found\n",
  headers: [
    ["Content-Type", plain],
    ["X-Content-Type-Options", "nosniff"]
  ]
}

/** `OPTIONS *`. */
export const options: Answer = { status: 200, body: "", headers: [["Content-Length", "0"]] }

/** `*` with another method. */
export const asterisk: Answer = { status: 400, body: "", headers: [["Connection", "close"]] }

export const expectationFailed: Answer = { status: 417, body: "", headers: [["Connection", "close"]] }

/** Only GET has a body, and with HEAD its type; a browser shows neither. */
export const redirect = (method: string, location: string): Answer => ({
  status: 307,
  body: method === "GET" ? `<a href="${escapeHtml(location)}">${phrases[307]}</a>.\n\n` : "",
  headers: [
    ...(method === "GET" || method === "HEAD" ? ([["Content-Type", "text/html; charset=utf-8"]] as const) : []),
    ["Location", location.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)]
  ]
})

/** Of a connection that has gone, nothing is heard. */
export const send = (response: ServerResponse, { status, body, headers = [], stream }: Answer): void => {
  const { method, httpVersion } = response.req
  const lines: Array<readonly [string, string]> = [...headers, ["Date", new Date().toUTCString()]]
  const has = (wanted: string) => headers.some(([name]) => name === wanted)
  // Of an empty body HEAD cannot tell whether GET would have one.
  if (!has("Content-Length") && !(method === "HEAD" && body === "") && stream === undefined) {
    lines.push(["Content-Length", `${body.length}`])
  }
  if (!has("Content-Type") && body !== "") lines.push(["Content-Type", plain])
  if (!has("Connection")) {
    // HTTP/1.0 closes unless it is told otherwise, HTTP/1.1 stays.
    const stays = response.shouldKeepAlive
    if (stays === (httpVersion === "1.0")) lines.push(["Connection", stays ? "keep-alive" : "close"])
  }
  writeHead(response, status, phrases[status], lines)
  if (stream === undefined || method === "HEAD") response.end(body, "latin1")
  else stream(response)
}

export const refuse = (response: ServerResponse, refusal: Refusal): void => {
  const { status, phrase, body = `${status} ${phrase}` } = refusal
  response.removeHeader("Content-Length")
  response.removeHeader("Transfer-Encoding")
  writeHead(response, status, phrase, [
    ["Content-Type", plain],
    ["Connection", "close"]
  ])
  response.end(body, "latin1")
}

/** Names that have been removed are not added by node:http. Headers as an array go out in their order. */
const writeHead = (
  response: ServerResponse,
  status: number,
  phrase: string,
  headers: ReadonlyArray<readonly [string, string]>
) => {
  response.removeHeader("Date")
  response.removeHeader("Connection")
  response.writeHead(status, phrase, headers.flat())
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;"
}
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
