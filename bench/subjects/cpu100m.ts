/** A CPU quota of 100m, 10 ms in each 100: how long a start takes, and a probe beside the registrar. */
import { registrars, type Subject } from "../Bench.ts"
import { type Candidate, commandOf } from "../candidates.ts"
import { inContainer } from "../Container.ts"
import { type Run, takeTurns } from "../turns.ts"
import { inWorld } from "../World.ts"
import { asksNobody } from "./commandLine.ts"

const milliCpu = 100

const emptyRun = (empty: Candidate): Promise<Run> =>
  inContainer({ milliCpu }, async (container) => {
    const from = performance.now()
    const { code, signal } = await container.start(commandOf(empty)).ended
    if (code !== 0) throw new Error(`it ended with ${code ?? signal}`)
    const took = performance.now() - from
    return { values: { "cpu100m.registered": took, "cpu100m.probe": took } }
  })

const registrarRun = (candidate: Candidate): Promise<Run> =>
  inWorld((world) =>
    inContainer({ milliCpu }, async (container) => {
      await world.driver.comes()
      const from = performance.now()
      const registrar = container.start(commandOf(candidate, ...world.flags))
      await registrar.during(world.registered())
      const registered = performance.now() - from
      if (candidate.kind === "peer") return { values: { "cpu100m.registered": registered } }
      await container.atRest()
      const asked = performance.now()
      const { code, signal } = await container.exec(commandOf(candidate, ...world.probeFlags)).ended
      if (code !== 0) throw new Error(`a probe ended with ${code ?? signal}`)
      return { values: { "cpu100m.registered": registered, "cpu100m.probe": performance.now() - asked } }
    })
  )

export const cpu100m: Subject = {
  figures: ["cpu100m.registered", "cpu100m.probe"],
  measure: async (bench) => {
    await takeTurns(bench, {
      figures: cpu100m.figures,
      candidates: [bench.empty, ...registrars(bench)],
      runs: bench.runs,
      measure: (candidate) => (candidate.kind === "empty" ? emptyRun(candidate) : registrarRun(candidate))
    })
    for (const { name } of bench.peers) bench.recorder.cannot("cpu100m.probe", name, asksNobody)
  }
}
