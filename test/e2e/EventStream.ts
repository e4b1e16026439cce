/** A client of the inspector's events, as a browser is one: each line of the record as it comes. */
import { get, type IncomingMessage } from "node:http"
import { createInterface } from "node:readline"

import { Feed } from "../fakes/peers/Feed.ts"
import type { Http } from "./Http.ts"

export class EventStream {
  readonly lines = new Feed<string>("the inspector's events")
  /** True: the server has said that this was all; false: it hung up. */
  readonly ended: Promise<boolean>
  readonly #response: IncomingMessage

  private constructor(response: IncomingMessage) {
    this.#response = response
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.ended = promise
    response.on("error", () => resolve(false))
    response.on("end", () => resolve(true))
    createInterface({ input: response }).on("line", (line) => {
      if (line.startsWith("data: ")) this.lines.push(line.slice("data: ".length))
    })
  }

  /** Resolves when the server has answered. */
  static open(http: Http, path = "/debug/machine/events"): Promise<EventStream> {
    return new Promise((resolve, reject) => {
      const url = `http://${http.flag.replace("--http-endpoint=", "")}${path}`
      get(url, { agent: false }, (response) => {
        if (response.statusCode === 200) resolve(new EventStream(response))
        else reject(new Error(`${response.statusCode}`))
      }).on("error", reject)
    })
  }

  close(): void {
    this.#response.destroy()
  }
}
