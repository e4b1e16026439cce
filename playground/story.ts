/** `npm start`: six things that happen to a registrar in a cluster, done to the real one, and what becomes of each. */
import { existsSync } from "node:fs"

import * as Effect from "effect/Effect"

import type { RegistrarProcess } from "./RegistrarProcess.ts"
import type { Screen } from "./Screen.ts"
import { type NotAsToldError, Stage } from "./Stage.ts"
import { type Step, steps } from "./steps.ts"
import { type FolderTooDeepError, makeWorld, type World, type WorldSettings } from "./World.ts"

/** Tells one step; fails when it does not happen. Succeeds with the registrar that it has happened to. */
export const perform = (
  stage: Stage,
  title: string,
  step: Step,
  begin: Effect.Effect<RegistrarProcess>
): Effect.Effect<RegistrarProcess, NotAsToldError> =>
  Effect.gen(function* () {
    const { screen } = stage.world
    screen.heading(title)
    const registrar = yield* begin
    const result = yield* Effect.raceFirst(step.happens(stage, registrar), stage.crashed)
    screen.print(`  ${screen.style("green", "✔")} ${result}`)
    screen.print(`  ${screen.style("bold", "A cluster sees:")} ${step.cluster}`)
    screen.print(`  ${screen.style("bold", "Upstream v2.17:")} ${step.upstream}`)
    yield* stage.pause
    return registrar
  }).pipe(Effect.tapError((error) => Effect.sync(() => tellFailure(stage.world.screen, title, error))))

const tellFailure = (screen: Screen, title: string, { expected, seen }: NotAsToldError): void => {
  screen.print(`  ${screen.style("red", "✘")} not as told: ${title}`)
  screen.print(`    expected: ${expected}`)
  screen.print(`    seen:     ${seen.split("\n").join("\n              ")}`)
}

/** A kubelet, then a registrar: the beginning of step 1. */
export const begin = (stage: Stage): Effect.Effect<RegistrarProcess> =>
  Effect.suspend(() => {
    stage.world.kubelet.start()
    return stage.starts("registrar")
  })

const tell = (world: World) =>
  Effect.gen(function* () {
    const { screen, folder, kubelet } = world
    const stage = new Stage(world)
    screen.print("The real registrar, between a driver and a kubelet that are parts of this program, on real sockets.")
    screen.print(`This kubelet looks every ${kubelet.tickMs / 1_000} s, a real one every second; … is ${folder}.`)
    screen.footer(() => `${world.registrars[0]?.state?.state ?? "starting"} · waiting for ${stage.expecting}`)
    let registrar = begin(stage)
    for (const [index, step] of steps.entries()) {
      registrar = Effect.succeed(yield* perform(stage, `${index + 1}. ${step.title}`, step, registrar))
    }
    screen.footer(() => "")
  })

/** What should be gone, and is not. */
const leftOvers = ({ folder, registrars }: World): ReadonlyArray<string> => [
  ...(existsSync(folder) ? [folder] : []),
  ...registrars.filter(({ isRunning }) => isRunning).map(({ pid }) => `process ${pid}`)
]

/** Tells all steps. Succeeds with whether they happened, and nothing was left of them. */
export const story = (settings: WorldSettings): Effect.Effect<boolean, FolderTooDeepError> =>
  Effect.gen(function* () {
    const { screen } = settings
    const start = performance.now()
    const world = yield* Effect.scoped(Effect.tap(makeWorld(settings), tell))
    const left = leftOvers(world)
    const took = `${((performance.now() - start) / 1_000).toFixed(1)} s`
    screen.print()
    screen.print(
      left.length === 0
        ? `All ${steps.length} steps happened as told, in ${took}; no process and no file is left.`
        : `Left behind: ${left.join(", ")}`
    )
    return left.length === 0
  }).pipe(Effect.catchTag("NotAsToldError", () => Effect.succeed(false)))
