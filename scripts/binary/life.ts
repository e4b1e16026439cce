/** One life of a registrar: a driver that is there, a kubelet that says yes, health checks, a probe, SIGTERM. */
import { execFile, spawn } from "node:child_process"
import * as fs from "node:fs"
import { get } from "node:http"
import { type AddressInfo, createServer } from "node:net"
import * as path from "node:path"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"

import * as grpc from "@grpc/grpc-js"

import { CsiDriver } from "../../test/fakes/peers/CsiDriver.ts"
import { Registration } from "../../test/fakes/protos.ts"

const driverName = "driver.example.com"
const restMs = 50
const limitMs = 120_000

/**
 * How long a registrar is left alone before its end. More than the second after which it tidies up; and less than the ten after which it
 * takes itself for settled, or clearly more, so that each life has all of that, or none.
 */
const aloneMs = { native: 3_000, emulated: 12_000 }

/** What the probe of a life asks. A registrar under an emulator is not found by its command line, and then `registered` fails. */
export type Asked = "alive" | "registered"

type Call = (request: object, done: (error: Error | null) => void) => void

/** GetInfo, then a verdict: what a kubelet does on one connection. */
export const registerAt = (socket: string): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const client = new Registration(`unix:${socket}`, grpc.credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1
  })
  const { GetInfo, NotifyRegistrationStatus } = client as unknown as Record<string, Call>
  const finish = (error: Error | null) => {
    client.close()
    if (error === null) resolve()
    else reject(error)
  }
  GetInfo?.call(client, {}, (error) => {
    if (error !== null) finish(error)
    else NotifyRegistrationStatus?.call(client, { plugin_registered: true }, finish)
  })
  return promise
}

/**
 * Resolves when all threads of a process sleep, and have done so for a while: what comes next then comes in the same order on a slow machine as on a fast one.
 */
const atRest = async (pid: number | undefined): Promise<void> => {
  for (let before = "", now = used(pid); now !== before; before = now, now = used(pid)) await setTimeout(restMs)
}

/** What the threads have used of a CPU; never the same twice while one of them runs, or waits for a CPU. */
const used = (pid: number | undefined): string =>
  fs
    .readdirSync(`/proc/${pid}/task`)
    .map((thread) => {
      const task = `/proc/${pid}/task/${thread}`
      const sleeps = /^State:\s+S/m.test(fs.readFileSync(`${task}/status`, "utf8"))
      return sleeps ? fs.readFileSync(`${task}/schedstat`, "utf8") : String(performance.now())
    })
    .join()

const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The status of an answer, and its connection ended with it. */
const statusOf = (port: number, route: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path: route, agent: false }, (response) => {
      response.resume()
      response.once("end", () => resolve(response.statusCode))
    }).once("error", reject)
  })

/**
 * Starts `command` with its flags, and leads it through its life. Fails when it does not register, is not ready then, or does not end with 0; so for
 * the same command as a probe.
 *
 * @returns all that it wrote to stdout and stderr
 */
export const live = async (command: ReadonlyArray<string>, asked: Asked = "registered"): Promise<string> => {
  const [file = "", ...args] = command
  const root = fs.mkdtempSync("/tmp/life-")
  const folder = path.join(root, "registry")
  fs.mkdirSync(folder)
  const socket = path.join(folder, `${driverName}-reg.sock`)
  const driver = new CsiDriver(path.join(root, "csi.sock"), driverName)
  await driver.comes()
  const port = await freePort()
  const placed = Promise.withResolvers<void>()
  const watcher = fs.watch(folder, () => {
    if (fs.existsSync(socket)) placed.resolve()
  })
  const said: Array<string> = []
  const ended = Promise.withResolvers<number | null>()
  const child = spawn(
    file,
    [
      ...args,
      `--csi-address=${driver.address}`,
      `--kubelet-registration-path=${driver.address}`,
      `--plugin-registration-path=${folder}`,
      `--http-endpoint=127.0.0.1:${port}`,
      // Under an emulator the first self-check takes more than the second that is the default.
      "--timeout=30s"
    ],
    { stdio: ["ignore", "pipe", "pipe"], env: {}, timeout: limitMs, killSignal: "SIGKILL" }
  )
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => said.push(text))
  }
  child.once("error", ended.reject).once("close", ended.resolve)
  const endedEarly = ended.promise.then((code) => Promise.reject(new Error(`it ended with ${code}`)))
  const soon = <A>(promise: Promise<A>): Promise<A> => Promise.race([promise, endedEarly])
  try {
    await soon(placed.promise)
    await soon(atRest(child.pid))
    await soon(registerAt(socket))
    await soon(atRest(child.pid))
    for (const route of ["/healthz", "/livez", "/readyz"]) {
      const status = await soon(statusOf(port, route))
      if (status !== 200) throw new Error(`${route} answered ${status}`)
      await soon(atRest(child.pid))
    }
    await soon(setTimeout(asked === "registered" ? aloneMs.native : aloneMs.emulated))
    await soon(atRest(child.pid))
    const probe = [...args, "--mode=kubelet-registration-probe", `--probe=${asked}`]
    const { stdout, stderr } = await soon(
      promisify(execFile)(file, [...probe, `--kubelet-registration-path=${driver.address}`], { env: {} })
    )
    said.push(stdout, stderr)
    endedEarly.catch(() => {})
    child.kill("SIGTERM")
    const code = await ended.promise
    if (code !== 0) throw new Error(`it ended with ${code}`)
    return said.join("")
  } catch (error) {
    throw new Error(`${command.join(" ")}: ${error instanceof Error ? error.message : error}\n${said.join("")}`)
  } finally {
    child.kill("SIGKILL")
    watcher.close()
    driver.goes()
    fs.rmSync(root, { recursive: true })
  }
}
