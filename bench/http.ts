/** Requests as the kubelet and Prometheus make them. */
import { get } from "node:http"

const kubelet = { "User-Agent": "kube-probe/1.36", Accept: "*/*" }

/** A health check: a connection of its own. Resolves with the status. */
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

/** Resolves when all of the answer has come; rejects for any status but 200. */
export const got = async (port: number, path: string, signal?: AbortSignal): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: signal ?? null })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
}

export const httpFlag = (port: number): string => `--http-endpoint=127.0.0.1:${port}`
