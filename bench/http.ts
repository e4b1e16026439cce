/** A health check as the kubelet makes it: a connection each. */
import { get } from "node:http"

const kubelet = { "User-Agent": "kube-probe/1.36", Accept: "*/*" }

/** Resolves with the status. */
export const healthCheck = (
  port: number,
  headers: Readonly<Record<string, string>> = {}
): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: "/healthz", agent: false, headers: { ...kubelet, ...headers } }
    get(options, (response) => {
      response.resume()
      response.once("end", () => resolve(response.statusCode))
    }).once("error", reject)
  })

export const httpFlag = (port: number): string => `--http-endpoint=127.0.0.1:${port}`
