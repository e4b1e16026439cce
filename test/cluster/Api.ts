/**
 * The Kubernetes API, over the unix socket of `kubectl proxy`: nothing of the node's network is reachable from outside of it,
 * and the proxy holds the credential.
 */
import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { createInterface } from "node:readline"
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"

import { Feed } from "../fakes/peers/Feed.ts"

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    /** Of one counter for all objects of a cluster: the greater one was written later. */
    readonly resourceVersion?: string
    readonly uid?: string
  }
}

export interface WatchEvent<A extends KubernetesObject> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  readonly object: A
  /** When it was read here, on the clock of `performance.now()`. */
  readonly at: number
}

export interface Watch<A extends KubernetesObject> {
  readonly events: Feed<WatchEvent<A>>
  readonly close: () => void
}

export class ApiError extends Error {
  override readonly name = "ApiError"
  readonly status: number
  constructor(method: string, path: string, status: number, body: string) {
    super(`${method} ${path}: ${status} ${body.trim()}`)
    this.status = status
  }
}

/** The server is not there yet for this kind of object, and asks to come again. */
const tooManyRequests = 429
const notFound = 404

export class Api {
  readonly #socketPath: string

  constructor(socketPath: string) {
    this.#socketPath = socketPath
  }

  get<A>(path: string): Promise<A> {
    return this.#call<A>("GET", path)
  }

  /** Server-side apply. `path` is that of the object. */
  async apply(path: string, object: KubernetesObject): Promise<void> {
    await this.#call("PATCH", `${path}?fieldManager=test&force=true`, object)
  }

  /** Deletes the object once everything that belongs to it is gone, which may be later. One that is not there is fine. */
  async remove(path: string): Promise<void> {
    await this.#call("DELETE", `${path}?propagationPolicy=Foreground`).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === notFound)) throw error
    })
  }

  /**
   * What is there, as `ADDED`, and every change from then on, without a gap. It begins with what the API server has at hand
   * (version 0): to be sure of the newest it would have to hear of it from etcd, and releases before 3.4.25 are slow to tell.
   */
  async watch<A extends KubernetesObject>(path: string, selector: string): Promise<Watch<A>> {
    const response = await this.#open("GET", `${path}?watch=true&resourceVersion=0&${selector}`)
    const events = new Feed<WatchEvent<A>>(`watch of ${path} ${selector}`)
    // Whoever waits for an event is told.
    const ended = () => events.end()
    createInterface({ input: response })
      .on("line", (line) => {
        const event = JSON.parse(line)
        if (event.type !== "ERROR") return events.push({ ...event, at: performance.now() })
        console.error(`watch of ${path}: ${line}`)
        response.destroy()
      })
      .on("error", ended)
      .on("close", ended)
    return { events, close: () => void response.destroy() }
  }

  async #call<A>(method: string, path: string, body?: object): Promise<A> {
    const response = await this.#open(method, path, body)
    const answer = await text(response)
    return (response.headers["content-type"]?.includes("json") ? JSON.parse(answer) : answer) as A
  }

  /** The response to a request that is granted. */
  async #open(method: string, path: string, body?: object): Promise<IncomingMessage> {
    const call = request({
      socketPath: this.#socketPath,
      method,
      path,
      headers: body === undefined ? {} : { "content-type": "application/apply-patch+yaml" }
    })
    call.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(call, "response")) as [IncomingMessage]
    const { statusCode = 0, headers } = response
    if (statusCode < 400) return response
    const answer = await text(response)
    if (statusCode !== tooManyRequests) throw new ApiError(method, path, statusCode, answer)
    await setTimeout(1_000 * Number(headers["retry-after"] ?? 1))
    return this.#open(method, path, body)
  }
}
