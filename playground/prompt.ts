/** `npm start -- --keep`: the world stays, and a person presses its buttons by words. */
import { existsSync, rmSync } from "node:fs"
import { createInterface, type Interface } from "node:readline"

import * as Effect from "effect/Effect"

import type { RegistrarProcess } from "./RegistrarProcess.ts"
import type { Screen } from "./Screen.ts"
import { Stage } from "./Stage.ts"
import { driverComesLate } from "./steps.ts"
import { begin, perform } from "./story.ts"
import { type FolderTooDeepError, makeWorld, type World, type WorldSettings } from "./World.ts"

/** How late a late driver is. */
const lateMs = 3_000
const shownLogLines = 20

const help = `
  driver up | down      the driver comes, or goes
  driver late           a new registrar starts without a driver, which comes ${lateMs / 1_000} s later
  refuse                the kubelet refuses the driver once
  remove                somebody deletes the registration socket
  restart kubelet       a new kubelet, which knows nothing
  restart registrar     SIGTERM, and a new process
  second                a second registrar of the same driver comes; again: it goes
  status                who is where, and the address of the inspector
  log                   the last ${shownLogLines} lines of the registrar's log
  quit                  the end, as Ctrl-C is`

class Buttons {
  readonly world: World
  readonly stage: Stage
  #registrar: RegistrarProcess
  #second: RegistrarProcess | undefined

  constructor(world: World, stage: Stage, registrar: RegistrarProcess) {
    this.world = world
    this.stage = stage
    this.#registrar = registrar
  }

  /** Does what the words say, and fails with what to say instead. */
  press(words: string): Effect.Effect<void> {
    const { kubelet, screen } = this.world
    switch (words) {
      case "":
        return Effect.void
      case "driver up":
        return this.#withDriver((driver) => driver.up())
      case "driver down":
        return this.#withDriver(async (driver) => driver.down())
      case "driver late":
        return this.world.driver === undefined
          ? this.#withDriver(async () => {})
          : Effect.sync(() => this.world.driver?.down()).pipe(
              Effect.andThen(this.#restartRegistrar()),
              Effect.andThen(Effect.sleep(lateMs)),
              Effect.andThen(this.#withDriver((driver) => driver.up()))
            )
      case "refuse":
        return Effect.sync(() => {
          kubelet.refuseOnce("rpc error: code = Unavailable desc = refused at your wish")
          kubelet.restart()
        })
      case "remove":
        return Effect.sync(() => this.#remove())
      case "restart kubelet":
        return Effect.sync(() => kubelet.restart())
      case "restart registrar":
        return this.#restartRegistrar()
      case "second":
        return this.#toggleSecond()
      case "status":
        return Effect.sync(() => this.#status())
      case "log":
        return Effect.sync(() => {
          for (const { text } of this.#registrar.log.all.slice(-shownLogLines)) screen.print(`  ${text}`)
        })
      case "help":
        return Effect.sync(() => screen.print(help))
      default:
        return Effect.sync(() => screen.print(`There is no button "${words}"; help lists them.`))
    }
  }

  #withDriver(use: (driver: NonNullable<World["driver"]>) => Promise<void>): Effect.Effect<void> {
    const { driver, screen, csiAddress } = this.world
    if (driver === undefined) {
      return Effect.sync(() => screen.print(`The driver at ${csiAddress} is yours: start and stop it yourself.`))
    }
    return Effect.tryPromise(() => use(driver)).pipe(
      Effect.catch(({ cause }) => Effect.sync(() => screen.print(`The driver cannot listen: ${cause}`)))
    )
  }

  #remove(): void {
    const [socket] = this.stage.sockets()
    if (socket === undefined) this.world.screen.print("There is no registration socket at this moment.")
    else rmSync(socket, { force: true })
  }

  #restartRegistrar(): Effect.Effect<void> {
    return Effect.promise(() => this.#registrar.stop()).pipe(
      Effect.andThen(this.world.startRegistrar("registrar")),
      Effect.tap((registrar) => Effect.sync(() => (this.#registrar = registrar))),
      Effect.asVoid
    )
  }

  #toggleSecond(): Effect.Effect<void> {
    const second = this.#second
    if (second?.isRunning) return Effect.asVoid(Effect.promise(() => second.stop()))
    return Effect.map(this.world.startRegistrar("second"), (started) => {
      this.#second = started
    })
  }

  #status(): void {
    const { driver, kubelet, csiAddress, screen } = this.world
    const there = driver === undefined ? existsSync(csiAddress) : driver.isUp
    screen.print(`  driver     ${there ? "up" : "down"}, ${csiAddress}`)
    for (const registrar of [this.#registrar, this.#second]) {
      if (registrar === undefined) continue
      const { label, pid, isRunning, state, endpoint } = registrar
      const about = isRunning ? `${state?.state ?? "starting"} since ${state?.since ?? "now"}` : "ended"
      screen.print(`  ${label.padEnd(9)}  ${about}, process ${pid}, http://${endpoint}/debug/machine`)
    }
    const drivers = [...kubelet.csiNode].map(([name, id]) => `${name} (${id})`)
    screen.print(`  CSINode    ${drivers.join(", ") || "no driver"}`)
    for (const socket of this.stage.sockets()) screen.print(`  socket     ${socket}`)
  }
}

/** Lines of `input` until its end or `quit`; on a terminal with a prompt below everything that is printed. */
const openLines = (screen: Screen, input: NodeJS.ReadStream) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const asksPerson = screen.isTerminal && input.isTTY === true
      const lines: Interface = createInterface(asksPerson ? { input, output: process.stdout } : { input })
      if (asksPerson) {
        screen.drawBelow(() => lines.prompt(true))
        // A terminal in raw mode gives the key and no signal.
        lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"))
      }
      return lines
    }),
    (lines) =>
      Effect.sync(() => {
        screen.drawBelow(() => {})
        lines.close()
      })
  ).pipe(Effect.map((lines) => lines[Symbol.asyncIterator]()))

const invite = ({ screen, folder, driver, csiAddress }: World): void => {
  screen.print()
  screen.print(`Everything stays as it is, in ${folder}.`)
  if (driver !== undefined) {
    screen.print('To put a driver of your own in the place of ours: "driver down", then let yours listen at')
    screen.print(`  ${csiAddress}`)
    screen.print("or start this again with --keep --driver=/path/of/its/socket.")
  }
  screen.print(help)
}

const converse = (world: World, input: NodeJS.ReadStream) =>
  Effect.gen(function* () {
    const { screen, driver } = world
    const stage = new Stage(world)
    const registrar = yield* driver === undefined
      ? begin(stage)
      : perform(stage, `1. ${driverComesLate.title}`, driverComesLate, begin(stage))
    invite(world)
    const buttons = new Buttons(world, stage, registrar)
    const lines = yield* openLines(screen, input)
    screen.refresh()
    while (true) {
      const line = yield* Effect.promise(() => lines.next())
      const words = line.done === true ? "quit" : line.value.trim().replace(/\s+/g, " ")
      if (words === "quit") return
      yield* buttons.press(words)
      screen.refresh()
    }
  })

/** Until the input ends or says quit. Succeeds with whether step 1 has happened. */
export const prompt = (settings: WorldSettings, input: NodeJS.ReadStream): Effect.Effect<boolean, FolderTooDeepError> =>
  makeWorld(settings).pipe(
    Effect.flatMap((world) => converse(world, input)),
    Effect.scoped,
    Effect.as(true),
    Effect.catchTag("NotAsToldError", () => Effect.succeed(false))
  )
