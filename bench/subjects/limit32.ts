/**
 * 32 MiB of memory and a cold page cache, with an exec probe every 5 s: the case in which the executable's own pages do not all fit, and are read again
 * from the disk whenever they are needed. (The libraries of the C runtime are the machine's, and warm.)
 */
import { setTimeout } from "node:timers/promises"

import { type Bench, inMeasure, registrars, type Subject } from "../Bench.ts"
import { type Candidate, commandOf } from "../candidates.ts"
import { ColdFile } from "../ColdFile.ts"
import { type Container, inContainer } from "../Container.ts"
import { reasonOf } from "../turns.ts"
import { inWorld, type World } from "../World.ts"
import { asksNobody } from "./commandLine.ts"

const memoryMiB = 32
const periodMs = 5_000
/** Two minutes of them. */
const probes = 24

const probeOften = async (bench: Bench, candidate: Candidate, world: World, container: Container) => {
  const { recorder } = bench
  const probe = commandOf(candidate, ...world.probeFlags)
  for (let n = 0; n < inMeasure(probes, bench); n++) {
    await setTimeout(periodMs)
    const from = performance.now()
    const { code, signal } = await container.exec(probe).ended
    if (code === 0) recorder.record("limit32.probe", candidate.name, performance.now() - from)
    else recorder.cannot("limit32.probe", candidate.name, `a probe ended with ${code ?? signal}`)
  }
}

/** `candidate` is cold. Kills are counted whatever happens. */
const life = (bench: Bench, candidate: Candidate): Promise<void> =>
  inWorld((world) =>
    inContainer({ memoryMiB }, async (container) => {
      const { name, kind } = candidate
      try {
        await world.driver.comes()
        const from = performance.now()
        const registrar = container.start(commandOf(candidate, ...world.flags))
        await registrar.during(world.registered())
        bench.recorder.record("limit32.registered", name, performance.now() - from)
        if (kind === "ours") await registrar.during(probeOften(bench, candidate, world, container))
        else await registrar.during(setTimeout(periodMs))
      } finally {
        bench.recorder.record("limit32.kills", name, container.cgroup.kills)
      }
    })
  )

export const limit32: Subject = {
  figures: ["limit32.registered", "limit32.probe", "limit32.kills"],
  measure: async (bench) => {
    for (const { name } of bench.peers) bench.recorder.cannot("limit32.probe", name, asksNobody)
    for (const candidate of registrars(bench)) {
      const cold = await ColdFile.copyOf(candidate.command[0] ?? "")
      try {
        await life(bench, { ...candidate, command: [cold.file] })
      } catch (error) {
        bench.recorder.cannot("limit32.registered", candidate.name, reasonOf(error))
      } finally {
        cold.close()
      }
    }
  }
}
