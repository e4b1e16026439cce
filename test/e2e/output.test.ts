/**
 * Claim: whatever becomes of stderr, the driver is announced and registered, and the registrar ends as it should: a log that nobody can take is no
 * reason to stop.
 */
import { expect } from "vitest"

import { driverName, it, socketName } from "./World.ts"

const shell = (redirection: string) => ["sh", "-c", `exec "$@" ${redirection}`, "sh"]
const outlets = {
  "closed from the start": shell("2>&-"),
  "on a full disk": shell("2>/dev/full"),
  "a pipe without a reader": ["sh", "-c", 'mkfifo "$0" && exec 3<>"$0" 4>"$0" 3>&- && exec "$@" 2>&4 4>&-']
}

it.for(Object.entries(outlets))("stderr %s", async ([, wrapper], { world }) => {
  await world.driver()
  const watch = world.watch()
  world.wrapper = wrapper.length === 3 ? [...wrapper, `${world.root}/fifo`] : wrapper
  const registrar = world.registrar()
  await watch.appears(socketName)

  const kubelet = world.kubelet()
  expect((await kubelet.getInfo()).name).toBe(driverName)
  expect(await kubelet.notify(true)).toEqual({})

  expect(registrar.lines).toEqual([])
  expect(await registrar.end()).toMatchObject({ code: 0, signal: null })
  expect(world.entries()).toEqual([])
})
