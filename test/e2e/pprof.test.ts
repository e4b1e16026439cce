/**
 * Claim: with --enable-pprof the endpoint serves profiles of the registrar in pprof's format, one of the CPU at a time, for no longer than somebody waits
 * for it, and a registrar that is profiled ends as fast as any; without it none of their paths is there.
 */
import { basename } from "node:path"
import { gunzipSync } from "node:zlib"

import { expect } from "vitest"

import { readProfile, sumOf } from "../services/http/pprof/readProfile.ts"
import { answers, asks, exchange, staying } from "../services/http/rawHttp.ts"
import { Http } from "./Http.ts"
import { listeningPorts } from "./listeningPorts.ts"
import { states } from "./states.ts"
import { it, type World } from "./World.ts"

const paths = [
  "/debug/pprof",
  "/debug/pprof/",
  "/debug/pprof/heap",
  "/debug/pprof/profile",
  "/debug/pprof/profile?seconds=1"
]
const pieces = ["main.cjs", "program.cjs", "effect.cjs", "grpc.cjs"]
const alreadyInUse = "500 Could not enable CPU profiling: cpu profiling already in use\n"
/** A profile that nobody will wait for. */
const long = asks("GET", "/debug/pprof/profile?seconds=300")
/** Far less than any profile lasts here. */
const soonMs = 1_000

const portOf = ({ flag }: Http) => Number(flag.slice(flag.lastIndexOf(":") + 1))

const open = async (world: World, ...flags: ReadonlyArray<string>) => {
  const http = await Http.open()
  const registrar = await states.registered(world, http.flag, ...flags)
  return { http, registrar, port: portOf(http) }
}

const profileOf = async (http: Http, path: string) => {
  const response = await http.fetch(path)
  expect(response.status).toBe(200)
  expect(response.headers.get("content-type")).toBe("application/octet-stream")
  return { response, profile: readProfile(gunzipSync(await response.bytes())) }
}

const ownFunctions = ({ samples }: ReturnType<typeof readProfile>) =>
  samples.flatMap(({ stack }) => stack.filter(({ file }) => pieces.includes(basename(file))))

it("without the flag none of its paths is there, for any method", async ({ world }) => {
  const { http, registrar, port } = await open(world)

  for (const path of paths) expect(await http.get(path), path).toBe("404 404 page not found\n")
  expect(await exchange(port, asks("POST", "/debug/pprof/heap"))).toBe(answers.notFound())
  expect(registrar.messages).not.toContain("Starting profiling")
})

it("a second of its life is in the CPU profile, with the program's own functions", async ({ world }) => {
  const { http } = await open(world, "--enable-pprof")
  let over = false
  const taken = profileOf(http, "/debug/pprof/profile?seconds=1").finally(() => {
    over = true
  })
  while (!over) expect(await http.get("/healthz")).toBe("200 ok")
  const { response, profile } = await taken

  expect(response.headers.get("content-disposition")).toBe('attachment; filename="profile"')
  expect(profile.types).toEqual([
    { type: "samples", unit: "count" },
    { type: "cpu", unit: "nanoseconds" }
  ])
  expect(profile.durationMs).toBeGreaterThan(900)
  expect(sumOf(profile, "cpu") / 1e6).toBeGreaterThan(500)
  expect(sumOf(profile, "cpu") / 1e6).toBeLessThanOrEqual(profile.durationMs + 1)
  expect(sumOf(profile, "samples")).toBeGreaterThan(50)
  expect(ownFunctions(profile).length).toBeGreaterThan(0)
  expect(Date.now() - profile.takenAtMs).toBeLessThan(60_000)
})

it("what it holds in memory is in the heap profile, collected or not", async ({ world }) => {
  const { http } = await open(world, "--enable-pprof")

  for (const path of ["/debug/pprof/heap", "/debug/pprof/heap?gc=1"]) {
    const { response, profile } = await profileOf(http, path)
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="heap"')
    expect(profile.types).toEqual([
      { type: "objects", unit: "count" },
      { type: "space", unit: "bytes" }
    ])
    expect(sumOf(profile, "objects")).toBeGreaterThan(0)
    expect(sumOf(profile, "space")).toBeGreaterThan(10_000)
    expect(ownFunctions(profile).length).toBeGreaterThan(0)
  }
})

it("the page is led to from the path without a slash, and what is below it is exact", async ({ world }) => {
  const { http, registrar, port } = await open(world, "--enable-pprof")

  expect(await exchange(port, asks("GET", "/debug/pprof"))).toBe(answers.redirect("/debug/pprof/"))
  expect(await exchange(port, asks("CONNECT", "/debug/pprof"))).toBe(answers.redirectOfOthers("/debug/pprof/"))
  expect(await http.get("/debug/pprof")).toMatch(/^200 <!DOCTYPE html>\n/)
  for (const path of ["/debug/pprof/heap/", "/debug/pprof/goroutine", "/debug/pprof%2Fheap", "/debug", "/debug/"]) {
    expect(await http.get(path), path).toBe("404 404 page not found\n")
  }
  expect(await http.get("/debug/pprof/profile?seconds=0")).toBe("400 seconds must be a whole number from 1 to 300\n")
  expect(registrar.messages).toContain("Starting profiling")
})

it("a second CPU profile is refused while one runs, and a client that hangs up ends its own", async ({ world }) => {
  const { http, port } = await open(world, "--enable-pprof")
  const first = await staying(port, long)
  expect(await http.get("/debug/pprof/profile?seconds=300")).toBe(alreadyInUse)
  expect(await http.get("/healthz")).toBe("200 ok")

  first.destroy()
  // Its end is heard before a request that is sent later, or just after it.
  let status = 500
  for (let tries = 0; status === 500 && tries < 20; tries++)
    status = (await http.fetch("/debug/pprof/profile?seconds=1")).status
  expect(status).toBe(200)
})

it("a client that has reset its connection has ended its profile, too", async ({ world }) => {
  const { http, port } = await open(world, "--enable-pprof")
  const first = await staying(port, long)
  expect(await http.get("/debug/pprof/profile?seconds=300")).toBe(alreadyInUse)

  first.resetAndDestroy()
  let status = 500
  for (let tries = 0; status === 500 && tries < 20; tries++)
    status = (await http.fetch("/debug/pprof/profile?seconds=1")).status
  expect(status).toBe(200)
})

it("a client that closes its side gets what there is by then", async ({ world }) => {
  const { port } = await open(world, "--enable-pprof")
  const askedAt = performance.now()

  const answer = await exchange(port, long)

  expect(performance.now() - askedAt).toBeLessThan(soonMs)
  const [head = "", body = ""] = answer.split(/\r\n\r\n(.*)/s)
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(readProfile(gunzipSync(Buffer.from(body, "latin1"))).durationMs).toBeLessThan(soonMs)
})

it("SIGTERM does not wait for a profile", async ({ world }) => {
  const { http, registrar, port } = await open(world, "--enable-pprof")
  await staying(port, long)
  expect(await http.get("/debug/pprof/profile?seconds=300")).toBe(alreadyInUse)

  const { code, tookMs } = await registrar.end()

  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(soonMs)
  expect(world.entries()).toEqual([])
})

it("opens no port beside the endpoint's own, and writes nothing but klog", async ({ world }) => {
  const { http, registrar } = await open(world, "--enable-pprof")
  await profileOf(http, "/debug/pprof/profile?seconds=1")
  await profileOf(http, "/debug/pprof/heap")

  expect(listeningPorts(registrar.program.pid)).toEqual([portOf(http)])
  // Fails for a line that is not klog's.
  expect(registrar.messages.filter((message) => message === "Starting profiling")).toHaveLength(1)
})
