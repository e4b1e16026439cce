/** Plain bytes to a server, and all that it says until it hangs up. */
import * as net from "node:net"

/** Dates are replaced, for they differ. */
const withoutDates = (text: string): string =>
  text.replace(/Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, "Date: now")

/** A character a byte. Says it has no more to say after `text`: an HTTP server answers what is complete, then ends. */
export const exchange = (port: number, text: string, host = "127.0.0.1"): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = ""
    const socket = net.connect({ port, host, allowHalfOpen: true })
    socket.setEncoding("latin1")
    socket.on("data", (chunk) => {
      answer += chunk
    })
    // A server that has heard enough may reset; what it said before counts.
    socket.on("error", (error) => (answer === "" ? reject(error) : socket.destroy()))
    socket.on("end", () => socket.destroy())
    socket.on("close", () => resolve(withoutDates(answer)))
    socket.end(text, "latin1")
  })

/** A socket that says this much, and stays. It is there once the server has it. */
export const staying = (port: number, text = ""): Promise<net.Socket> =>
  new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true })
    socket.on("error", reject)
    socket.once("connect", () => {
      socket.off("error", reject).on("error", () => socket.destroy())
      if (text === "") resolve(socket)
      else socket.write(text, "latin1", () => resolve(socket))
    })
    socket.resume()
  })

export const request = (line: string, ...headers: ReadonlyArray<string>): string =>
  `${[line, ...headers].join("\r\n")}\r\n\r\n`

/** An HTTP/1.1 request with a host. */
export const asks = (method: string, target: string, ...headers: ReadonlyArray<string>): string =>
  request(`${method} ${target} HTTP/1.1`, "Host: localhost", ...headers)

/** How a Go server answers, to the byte but for the date. */
const plain = "Content-Type: text/plain; charset=utf-8"

export const answers = {
  plain: (status: string, body: string, ...more: ReadonlyArray<string>): string =>
    `${request(`HTTP/1.1 ${status}`, "Date: now", `Content-Length: ${Buffer.byteLength(body)}`, plain, ...more)}${body}`,
  notFound: (...more: ReadonlyArray<string>): string =>
    `${request(
      "HTTP/1.1 404 Not Found",
      plain,
      "X-Content-Type-Options: nosniff",
      "Date: now",
      "Content-Length: 19",
      ...more
    )}404 page not found\n`,
  /** `shown` is the location in HTML. */
  redirect: (location: string, shown = location): string => {
    const body = `<a href="${shown}">Temporary Redirect</a>.\n\n`
    return `${request(
      "HTTP/1.1 307 Temporary Redirect",
      "Content-Type: text/html; charset=utf-8",
      `Location: ${location}`,
      "Date: now",
      `Content-Length: ${body.length}`
    )}${body}`
  },
  redirectOfHead: (location: string): string =>
    request(
      "HTTP/1.1 307 Temporary Redirect",
      "Content-Type: text/html; charset=utf-8",
      `Location: ${location}`,
      "Date: now"
    ),
  redirectOfOthers: (location: string): string =>
    request("HTTP/1.1 307 Temporary Redirect", `Location: ${location}`, "Date: now", "Content-Length: 0"),
  refused: (status: string, body = status): string =>
    `${request(`HTTP/1.1 ${status}`, plain, "Connection: close")}${body}`,
  withoutBody: (answer: string): string => answer.slice(0, answer.indexOf("\r\n\r\n") + 4)
}
