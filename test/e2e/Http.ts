/** The HTTP endpoint of a registrar, as a prober sees it. */
import { type AddressInfo, createServer } from "node:net"

export interface Readiness {
  readonly ready: boolean
  readonly reason: string
  readonly state: string
  readonly since: string
  readonly driver: { readonly name: string; readonly connected: boolean }
  readonly lastGetInfo: string | null
  readonly lastVerdict: { readonly at: string; readonly accepted: boolean; readonly text: string } | null
}

export class Http {
  readonly #port: number

  constructor(port: number) {
    this.#port = port
  }

  /** On a port that was free a moment ago. */
  static async open(): Promise<Http> {
    return new Http(await freePort())
  }

  get flag(): string {
    return `--http-endpoint=127.0.0.1:${this.#port}`
  }

  /** Status and body, as in `200 ok`. */
  async get(path: string): Promise<string> {
    const response = await this.fetch(path)
    return `${response.status} ${await response.text()}`
  }

  async readiness(): Promise<Readiness> {
    return (await (await this.fetch("/readyz?verbose")).json()) as Readiness
  }

  fetch(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.#port}${path}`, { headers: { connection: "close", ...headers } })
  }
}

/** That was free a moment ago. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
