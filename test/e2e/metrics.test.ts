/**
 * Claim: what happens to a registrar shows in the numbers of its metrics: a registration, a refusal, a removed socket, a driver that goes and comes. Every
 * line can be read by a strict reader, and the path is the one that was asked for.
 */
import * as fs from "node:fs"

import { expect } from "vitest"

import { release, version } from "../../src/version.ts"
import { parseExposition } from "../services/metrics/parseExposition.ts"
import { Http } from "./Http.ts"
import { said } from "./Registrar.ts"
import { states } from "./states.ts"
import { driverName, it } from "./World.ts"

const method = "/csi.v1.Identity/GetPluginInfo"

/** Values by series, as in `state{registered}`; own families without their prefix. */
const scrape = async (http: Http, path = "/metrics"): Promise<Readonly<Record<string, number>>> => {
  const response = await http.fetch(path)
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
  const families = parseExposition(await response.text())
  return Object.fromEntries(
    families.flatMap(({ samples }) =>
      samples.map(({ name, labels, value }) => {
        const short = name.replace("csi_node_driver_registrar_", "")
        const words = Object.values(labels)
        return [words.length === 0 ? short : `${short}{${words.join(",")}}`, value]
      })
    )
  )
}

it("a registration shows: state, verdict, times, the call to the driver, the process", async ({ world }) => {
  const from = Date.now() / 1_000
  const http = await Http.open()
  const registrar = await states.registered(world, http.flag)

  const values = await scrape(http)

  const now = Date.now() / 1_000
  expect(values).toMatchObject({
    "state{registered}": 1,
    "state{connecting}": 0,
    driver_connected: 1,
    driver_reconnects_total: 0,
    "verdicts_total{accepted}": 1,
    "verdicts_total{refused}": 0,
    "events_total{driver.identified}": 1,
    "events_total{kubelet.accepted}": 1,
    "socket_recreations_total{removed}": 0,
    [`csi_sidecar_operations_seconds_count{${driverName},${method},OK}`]: 1,
    [`csi_sidecar_operations_seconds_bucket{${driverName},${method},OK,+Inf}`]: 1
  })
  for (const series of [
    "last_get_info_timestamp_seconds",
    "last_verdict_timestamp_seconds",
    "process_start_time_seconds"
  ]) {
    expect(values[series]).toBeGreaterThanOrEqual(from - 1)
    expect(values[series]).toBeLessThanOrEqual(now + 1)
  }
  expect(Object.keys(values)).toContainEqual(
    expect.stringMatching(new RegExp(`^build_info\\{${version},[^,]+,v24\\.[\\d.]+,${release.compatible}\\}$`))
  )
  expect(values.process_resident_memory_bytes).toBeGreaterThan(8 << 20)
  expect(values.process_cpu_seconds_total).toBeGreaterThan(0)
  expect(values.process_open_fds).toBeGreaterThan(3)
  expect(values.process_open_fds).toBeLessThanOrEqual(fs.readdirSync(`/proc/${registrar.program.pid}/fd`).length + 2)
  expect(values.process_max_fds).toBeGreaterThanOrEqual(values.process_open_fds ?? Number.NaN)
})

it("a refusal shows, and the socket that follows it", async ({ world }) => {
  const http = await Http.open()
  const registrar = await states.refused(world, http.flag)

  expect(await scrape(http)).toMatchObject({ "state{refused}": 1, "verdicts_total{refused}": 1 })

  await registrar.says(said.started)
  expect(await scrape(http)).toMatchObject({ "state{listening}": 1, "socket_recreations_total{refused}": 1 })
})

it("a removed socket shows", async ({ world }) => {
  const http = await Http.open()
  const registrar = await states.registered(world, http.flag)

  fs.rmSync(world.socket)
  await registrar.says(said.removed)
  await registrar.says(said.started)

  expect(await scrape(http)).toMatchObject({
    "state{listening}": 1,
    "events_total{socket.removed}": 1,
    "socket_recreations_total{removed}": 1
  })
})

it("a driver that goes away shows, and one that is back", async ({ world }) => {
  const driver = await world.driver()
  const http = await Http.open()
  const registrar = await world.registered(http.flag)

  driver.goes()
  await registrar.says("Lost connection to the CSI driver, the registration stays")
  expect(await scrape(http)).toMatchObject({ "state{registered}": 1, driver_connected: 0, driver_reconnects_total: 0 })

  await driver.comes()
  await registrar.says("CSI driver is back")
  expect(await scrape(http)).toMatchObject({ driver_connected: 1, driver_reconnects_total: 1 })
})

it("is there before the driver is, at the path that was asked for, and nowhere else", async ({ world }) => {
  const http = await Http.open()
  await states.connecting(world, http.flag, "--metrics-path=/a/b;c")

  expect(await scrape(http, "/a/b;c")).toMatchObject({ "state{connecting}": 1, driver_connected: 0 })
  expect(await http.get("/metrics")).toBe("404 404 page not found\n")
})

it("a scrape costs no more than a millisecond of CPU beyond what any request costs", async ({ world }) => {
  const http = await Http.open()
  await states.registered(world, http.flag)
  const cpuMs = async () => 1_000 * ((await scrape(http)).process_cpu_seconds_total ?? Number.NaN)
  const requests = 50
  const msEach = async (path: string) => {
    const before = await cpuMs()
    for (let n = 0; n < requests; n++) await http.get(path)
    return ((await cpuMs()) - before) / requests
  }

  // Code that is being compiled, or a machine that is busy, makes some rounds dearer than they are.
  const rounds: Array<number> = []
  for (let round = 0; round < 5; round++) rounds.push(-(await msEach("/nothing")) + (await msEach("/metrics")))

  expect(Math.min(...rounds)).toBeLessThan(1)
})
