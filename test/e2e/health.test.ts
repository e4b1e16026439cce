/**
 * Claim: /healthz keeps upstream's statuses and bodies once there is a socket and says why not before; /livez is unwell only when a restart would help;
 * /readyz means that the kubelet has registered us. And nothing is announced on a port that cannot be had.
 */
import { once } from "node:events"
import * as http from "node:http"
import { type AddressInfo, createServer } from "node:net"

import { expect } from "vitest"

import { Http } from "./Http.ts"
import { type HeldState, states } from "./states.ts"
import { driverName, it, promptMs, type World } from "./World.ts"

const placing = "identified: the registration socket is being put in place"
const rival = "displaced: another registrar of this driver holds the registration socket"

const expected: Record<HeldState, (world: World) => Readonly<Record<"healthz" | "livez" | "readyz", string>>> = {
  connecting: ({ root }) => {
    const missing = `503 connecting: ${root}/csi.sock does not exist`
    return { healthz: missing, livez: "200 ok", readyz: missing }
  },
  identified: () => ({ healthz: `503 ${placing}`, livez: "200 ok", readyz: `503 ${placing}` }),
  listening: () => ({ healthz: "200 ok", livez: "200 ok", readyz: "503 listening: the kubelet has not called yet" }),
  awaitingKubelet: () => ({
    healthz: "200 ok",
    livez: "200 ok",
    readyz: "503 awaitingKubelet: the kubelet has asked, its verdict is open"
  }),
  registered: () => ({ healthz: "200 ok", livez: "200 ok", readyz: "200 ok" }),
  refused: () => ({ healthz: "200 ok", livez: "200 ok", readyz: "503 refused: the node has no room" }),
  displaced: () => ({ healthz: "200 ok", livez: "200 ok", readyz: `503 ${rival}` })
}

const driverKnown = { name: driverName, connected: true }
const json: Record<HeldState, object> = {
  connecting: { ready: false, driver: { name: "", connected: false }, lastGetInfo: null, lastVerdict: null },
  identified: { ready: false, driver: driverKnown, lastGetInfo: null, lastVerdict: null },
  listening: { ready: false, driver: driverKnown, lastGetInfo: null, lastVerdict: null },
  awaitingKubelet: { ready: false, driver: driverKnown, lastGetInfo: expect.any(String), lastVerdict: null },
  registered: {
    ready: true,
    reason: "registered",
    driver: driverKnown,
    lastGetInfo: expect.any(String),
    lastVerdict: { at: expect.any(String), accepted: true, text: "" }
  },
  refused: {
    ready: false,
    driver: driverKnown,
    lastVerdict: { at: expect.any(String), accepted: false, text: "the node has no room" }
  },
  displaced: { ready: false, driver: driverKnown, lastVerdict: { at: expect.any(String), accepted: true, text: "" } }
}

it.for(Object.keys(states) as Array<HeldState>)(
  "in %s each endpoint says so, as text and as JSON",
  async (state, { world }) => {
    const endpoint = await Http.open()
    await states[state](world, endpoint.flag)

    const [healthz, livez, readyz, readiness] = await Promise.all([
      endpoint.get("/healthz"),
      endpoint.get("/livez"),
      endpoint.get("/readyz"),
      endpoint.readiness()
    ])

    expect({ healthz, livez, readyz }).toEqual(expected[state](world))
    expect(readiness).toMatchObject({ state, ...json[state] })
    expect(Math.abs(Date.now() - Date.parse(readiness.since))).toBeLessThan(60_000)
  }
)

it("answers with upstream's headers; JSON is also had by Accept", async ({ world }) => {
  const endpoint = await Http.open()
  await states.registered(world, endpoint.flag)

  const health = await endpoint.fetch("/%68ealthz?x=1")
  expect([health.status, health.headers.get("content-type"), health.headers.get("content-length")]).toEqual([
    200,
    "text/plain; charset=utf-8",
    "2"
  ])
  expect(await health.text()).toBe("ok")
  const asJson = await endpoint.fetch("/readyz", { accept: "application/json" })
  expect(asJson.headers.get("content-type")).toBe("application/json")
  expect(await asJson.json()).toMatchObject({ ready: true })
  expect(await endpoint.get("/nothing")).toBe("404 404 page not found\n")
})

it("what is missing is one line, whatever the kubelet says", async ({ world }) => {
  const endpoint = await Http.open()
  const registrar = await states.listening(world, endpoint.flag)
  await world.refuses(registrar, "first\r\n  second")

  expect(await endpoint.get("/readyz")).toBe("503 refused: first second")
})

it("a port in use: exit 1 with upstream's words before anything is announced", async ({ world }) => {
  await world.driver()
  const watch = world.watch()
  const holder = createServer()
  holder.listen(0, "127.0.0.1")
  await once(holder, "listening")
  const { port } = holder.address() as AddressInfo
  try {
    const registrar = world.registrar(`--http-endpoint=127.0.0.1:${port}`)

    expect(await registrar.program.exited).toMatchObject({ code: 1 })
    expect(registrar.lastLine).toContain(
      `node_register.go:138] "" err="listen tcp 127.0.0.1:${port}: bind: address already in use"`
    )
    expect(registrar.messages).not.toContain("Starting Registration Server")
    expect(await watch.counts()).toEqual({})
    expect(world.entries()).toEqual([])
  } finally {
    holder.close()
  }
})

it("open connections to it do not delay the end", async ({ world }) => {
  const endpoint = await Http.open()
  const registrar = await states.registered(world, endpoint.flag)
  const agent = new http.Agent({ keepAlive: true })
  const address = `${endpoint.flag.replace("--http-endpoint=", "http://")}/healthz`
  await new Promise<void>((resolve) => http.get(address, { agent }, (response) => response.resume().on("end", resolve)))

  const { code, tookMs } = await registrar.end()

  expect(code).toBe(0)
  expect(tookMs).toBeLessThanOrEqual(promptMs)
  expect(world.entries()).toEqual([])
  agent.destroy()
})
