/**
 * Claim: docs/registration.ndjson, of which the README's sequence is drawn, is the record of a life as the program leads it today: a late driver, a refusal, a
 * socket that somebody removes. Taken anew with UPDATE_PICTURES=1.
 */
import * as fs from "node:fs"
import { resolve } from "node:path"

import { expect } from "vitest"

import { decodeRecord, isFault, type Recording } from "../../src/services/inspector/record.ts"
import { Http } from "./Http.ts"
import { said } from "./Registrar.ts"
import { it, socketName } from "./World.ts"

const kept = resolve(import.meta.dirname, "../../docs/registration.ndjson")

const recordOf = (text: string): Recording => {
  const read = decodeRecord(text)
  if (isFault(read)) throw new Error(read.fault)
  return read
}

/** What does not depend on the machine. */
const stepsOf = ({ entries }: Recording) => entries.map(({ event, before, after }) => ({ event, before, after }))

it("a late driver, a refusal, a removed socket: recorded as they are in the docs", async ({ world }) => {
  const http = await Http.open()
  const registrar = world.registrar(http.flag, "--enable-inspector")
  await registrar.says(said.waiting)
  const watch = world.watch()
  await world.driver()
  await watch.appears(socketName)
  await registrar.says(said.started)
  await world.refuses(registrar, 'nodes "node-1" not found')
  await world.accepts(registrar)
  fs.rmSync(world.socket)
  await registrar.says(said.started)
  await world.accepts(registrar)

  const text = await (await http.fetch("/debug/machine/events.ndjson")).text()
  if (process.env.UPDATE_PICTURES !== undefined) {
    fs.writeFileSync(kept, text.replaceAll(world.registry, "/registration").replaceAll(world.root, "/csi"))
  }
  expect(stepsOf(recordOf(fs.readFileSync(kept, "utf8")))).toEqual(stepsOf(recordOf(text)))
})
