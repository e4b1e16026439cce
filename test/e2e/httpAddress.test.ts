/** Claim: --http-endpoint takes the addresses that Go takes and means the same by them; another one is exit 1, in Go's words, with nothing announced. */
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { networkInterfaces } from "node:os"

import { expect } from "vitest"

import { answers, asks, exchange } from "../services/http/rawHttp.ts"
import { Http } from "./Http.ts"
import { said } from "./Registrar.ts"
import { it } from "./World.ts"

const freePort = async () => Number((await Http.open()).flag.replace(/.*:/, ""))

const ipv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === "::1"))
const v4 = "127.0.0.1"
const v6 = ipv6 ? "::1" : v4

/** Where one is reached, and where one is not. */
const addresses: ReadonlyArray<readonly [address: (port: number) => string, at: ReadonlyArray<string>]> = [
  [(port) => `:${port}`, [v4, v6]],
  [(port) => `:+${port}`, [v4, v6]],
  [(port) => `:0${port}`, [v4, v6]],
  [(port) => `[]:${port}`, [v4, v6]],
  [(port) => `[::]:${port}`, [v4, v6]],
  [(port) => `0.0.0.0:${port}`, [v4, v6]],
  [(port) => `127.0.0.1:${port}`, [v4]],
  [(port) => `[::ffff:127.0.0.1]:${port}`, [v4]],
  [(port) => `localhost:${port}`, [v4]]
]
const ofIpv6: typeof addresses = [
  [(port) => `[::1]:${port}`, [v6]],
  [(port) => `[::1%lo]:${port}`, [v6]]
]

it.for(ipv6 ? [...addresses, ...ofIpv6] : addresses)("listens at %s", async ([address, at], { world }) => {
  const port = await freePort()
  const registrar = world.registrar(`--http-endpoint=${address(port)}`)
  await registrar.says(said.waiting)

  for (const host of new Set([v4, v6])) {
    const answer = exchange(port, asks("GET", "/livez"), host)
    if (at.includes(host)) expect(await answer).toBe(answers.plain("200 OK", "ok"))
    else await expect(answer).rejects.toMatchObject({ code: "ECONNREFUSED" })
  }
})

it.for([
  ["8080", "address 8080: missing port in address"],
  ["127.0.0.1", "address 127.0.0.1: missing port in address"],
  ["/a/b", "address /a/b: missing port in address"],
  ["::1:80", "address ::1:80: too many colons in address"],
  ["http://localhost:80", "address http://localhost:80: too many colons in address"],
  [":99999", "address 99999: invalid port"],
  [":-1", "address -1: invalid port"],
  [":abc", "lookup tcp/abc: unknown port"],
  [":0x50", "lookup tcp/0x50: unknown port"],
  [":80 ", "lookup tcp/80 : unknown port"],
  ["*:80", "lookup *: no such host"]
] as const)("%s is no address: exit 1, nothing announced", async ([address, reason], { world }) => {
  await world.driver()
  const registrar = world.registrar(`--http-endpoint=${address}`)

  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(registrar.lastLine).toContain(`node_register.go:138] "" err="listen tcp: ${reason}"`)
  expect(world.entries()).toEqual([])
})

it("--health-port=70000 is none either", async ({ world }) => {
  const registrar = world.registrar("--health-port=70000")

  expect(await registrar.program.exited).toMatchObject({ code: 1 })
  expect(registrar.lastLine).toContain(`] "" err="listen tcp: address 70000: invalid port"`)
})

it.for([
  ["", ""],
  ["0.0.0.0", "0.0.0.0"],
  ["[::]", "0.0.0.0"],
  ["localhost", "127.0.0.1"]
] as const)("%s with a port in use: exit 1, nothing announced", async ([host, shown], { world }) => {
  await world.driver()
  const watch = world.watch()
  const holder = createServer()
  holder.listen(0, host === "localhost" ? v4 : undefined)
  await once(holder, "listening")
  const { port } = holder.address() as AddressInfo
  try {
    const registrar = world.registrar(`--http-endpoint=${host}:${port}`)

    expect(await registrar.program.exited).toMatchObject({ code: 1 })
    expect(registrar.lastLine).toContain(`] "" err="listen tcp ${shown}:${port}: bind: address already in use"`)
    expect(await watch.counts()).toEqual({})
    expect(world.entries()).toEqual([])
  } finally {
    holder.close()
  }
})
