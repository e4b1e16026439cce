/**
 * Six registrars of six drivers on one node, each in a cgroup of its own. Nobody has read the executable before: the first of them is charged for the pages
 * that all of them share, as on a node.
 */
import { setTimeout } from "node:timers/promises"

import { inMeasure, registrars, type Subject } from "../Bench.ts"
import { type Candidate, commandOf } from "../candidates.ts"
import { ColdFile } from "../ColdFile.ts"
import { Container } from "../Container.ts"
import { type Run, takeTurns } from "../turns.ts"
import { World } from "../World.ts"
import { idleMs } from "./memory.ts"

const drivers = 6
const rounds = 3

const round = async (candidate: Candidate): Promise<Run> => {
  const cold = await ColdFile.copyOf(candidate.command[0] ?? "")
  const worlds: Array<World> = []
  const containers: Array<Container> = []
  try {
    for (let n = 0; n < drivers; n++) {
      const world = new World(`bench-${n}.example.com`, worlds[0]?.folder)
      worlds.push(world)
      await world.driver.comes()
      const container = new Container()
      containers.push(container)
      const registrar = container.start(commandOf({ ...candidate, command: [cold.file] }, ...world.flags))
      await registrar.during(world.registered())
    }
    await setTimeout(idleMs)
    const memory = containers.map(({ cgroup }) => cgroup.memory)
    return {
      values: {
        "six.workingSet": memory.reduce((sum, { workingSetMiB }) => sum + workingSetMiB, 0),
        "six.anonymous": memory.reduce((sum, { anonymousMiB }) => sum + anonymousMiB, 0)
      }
    }
  } finally {
    for (const container of containers) await container.close()
    for (const world of worlds.toReversed()) await world.close()
    cold.close()
  }
}

export const six: Subject = {
  figures: ["six.workingSet", "six.anonymous"],
  measure: (bench) =>
    takeTurns(bench, {
      figures: six.figures,
      candidates: registrars(bench),
      runs: inMeasure(rounds, bench),
      measure: round
    })
}
