/** Claim: `npm run inspect` runs the registrar as it is in the sources, and a page on loopback hears the chart in the words of Stately's inspector. */
import { join, resolve } from "node:path"

import { expect, onTestFinished } from "vitest"

import { Program } from "../fakes/peers/Program.ts"
import { EventStream } from "./EventStream.ts"
import { Http } from "./Http.ts"
import { Registrar, said } from "./Registrar.ts"
import { it } from "./World.ts"

const script = resolve(import.meta.dirname, "../../scripts/inspect.ts")

interface Told {
  readonly type: string
  readonly name?: string
  readonly definition?: string
  readonly event?: { readonly type: string }
  readonly snapshot?: { readonly status: string; readonly value?: unknown }
}

it("the chart, its events and its states, in order, for a page that is opened later, too", async ({ world }) => {
  await world.driver()
  const program = new Program("inspect", [
    process.execPath,
    script,
    `--csi-address=${join(world.root, "csi.sock")}`,
    "--kubelet-registration-path=/var/lib/kubelet/plugins/mock.csi.k8s.io/csi.sock",
    `--plugin-registration-path=${world.registry}`
  ])
  onTestFinished(async () => {
    await program.kill()
  })
  const registrar = new Registrar(program)
  const told = await program.stderr.next("where the page is", (line) => line.startsWith("Stately's inspector: "))
  const page = new URL(told.slice(told.indexOf("http")))
  await registrar.says(said.started)
  await world.accepts(registrar)

  const stream = await EventStream.open(new Http(Number(page.port)), "/events")
  await stream.lines.next("registered", (line) => line.includes('"registered"'))
  const events = stream.lines.all.map((line): Told => JSON.parse(line))
  const chart = events.find(({ type, name }) => type === "@xstate.actor" && name === "registrar")
  expect(JSON.parse(chart?.definition ?? "{}")).toMatchObject({ id: "registrar", states: { connecting: {} } })
  const heard = events.flatMap(({ type, event }) => (type === "@xstate.event" && event ? [event.type] : []))
  const steps = ["driver.identified", "socket.placed", "kubelet.asked", "kubelet.accepted"]
  expect(heard.filter((type) => steps.includes(type))).toEqual(steps)
  expect(events.at(-1)?.snapshot?.value).toMatchObject({ attached: { registration: { inPlace: "registered" } } })
  expect(await (await fetch(page)).text()).toContain('<iframe id="stately"')
  stream.close()

  expect(await registrar.end()).toMatchObject({ code: 0 })
  expect(world.entries()).toEqual([])
})
