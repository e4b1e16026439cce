/**
 * npm start                    the story: what happens to a registrar in a cluster, told with the real one
 * npm start -- --keep          step 1 of it, then a prompt; with --driver=/path/to.sock around a driver of yours
 * npm start -- --csi-address…  the registrar itself, with these arguments
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"

import { freshBundle } from "./bundle.ts"
import { passOn, signalExitCode } from "./passOn.ts"
import { prompt } from "./prompt.ts"
import { Screen } from "./Screen.ts"
import { story } from "./story.ts"

const [first, ...rest] = process.argv.slice(2)
const driverFlag = "--driver="

const playground = Effect.gen(function* () {
  const screen = new Screen(process.stdout, process.env)
  yield* Effect.addFinalizer(() => Effect.sync(() => screen.close()))
  // Not to be broken off: it would leave its half of a bundle.
  const bundle = yield* Effect.uninterruptible(Effect.promise(freshBundle))
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

if (
  first === undefined ||
  (first === "--keep" && rest.length <= 1 && rest.every((arg) => arg.startsWith(driverFlag)))
) {
  run(playground, {
    disableErrorReporting: true,
    teardown: (exit, onExit) => {
      if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) process.stderr.write(`${exit.cause}\n`)
      onExit(Exit.isSuccess(exit) && exit.value === true ? 0 : 1)
    }
  })
} else end(await passOn(process.argv.slice(2)))
