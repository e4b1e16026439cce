/** The playground, with a registrar of whichever build. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"

import { passOn, signalExitCode } from "./passOn.ts"
import { prompt } from "./prompt.ts"
import { Screen } from "./Screen.ts"
import { story } from "./story.ts"

const driverFlag = "--driver="

/** Path of a registrar that node can run. */
export type Bundle = () => Promise<string>

const playground = ([first, ...rest]: ReadonlyArray<string>, makeBundle: Bundle) =>
  Effect.gen(function* () {
    const screen = new Screen(process.stdout, process.env)
    yield* Effect.addFinalizer(() => Effect.sync(() => screen.close()))
    // Not to be broken off: it would leave its half of a bundle.
    const bundle = yield* Effect.uninterruptible(Effect.promise(makeBundle))
    const settings = { screen, bundle, externalDriver: rest[0]?.slice(driverFlag.length) }
    return yield* first === undefined ? story(settings) : prompt(settings, process.stdin)
  }).pipe(
    Effect.scoped,
    Effect.catchTag("FolderTooDeepError", ({ message }) =>
      Effect.sync(() => {
        process.stderr.write(`${message}\n`)
        return false
      })
    )
  )

const end = (code: number) => process.exit(code)

/** Runs it to its end, or until a signal; then everything it has opened is closed, and the process ends. */
const run = Runtime.makeRunMain(({ fiber, teardown }) => {
  let stoppedBy: NodeJS.Signals | undefined
  const stop = (signal: NodeJS.Signals) => {
    stoppedBy ??= signal
    fiber.interruptUnsafe(fiber.id)
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(signal))
  // Nobody reads any more, as with `npm start | head`.
  process.stdout.on("error", () => stop("SIGPIPE"))
  fiber.addObserver((exit) => teardown(exit, (code) => end(stoppedBy === undefined ? code : signalExitCode(stoppedBy))))
})

/** Does what the command line says, and ends the process; `npm start` in main.ts tells how it may look. */
export const play = async (args: ReadonlyArray<string>, makeBundle: Bundle): Promise<void> => {
  const [first, ...rest] = args
  const isStory = first === undefined
  const isPrompt = first === "--keep" && rest.length <= 1 && rest.every((arg) => arg.startsWith(driverFlag))
  if (!isStory && !isPrompt) return end(await passOn(args, makeBundle))
  run(playground(args, makeBundle), {
    disableErrorReporting: true,
    teardown: (exit, onExit) => {
      if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) process.stderr.write(`${exit.cause}\n`)
      onExit(Exit.isSuccess(exit) && exit.value === true ? 0 : 1)
    }
  })
}
