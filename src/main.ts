/** Signals, flags, fast modes, then the program: the order of everything that happens. Imported by nobody. */
import { decide } from "./services/flags/decide.ts"
import { readFlags } from "./services/flags/Flags.ts"
import { loadProgram, pieces } from "./services/load.ts"
import { makeLog } from "./services/log/Log.ts"
import { makeOutput } from "./services/log/Output.ts"
import { installSignals } from "./services/signals/Signals.ts"
import { terminationMessage, writeTerminationLog } from "./services/terminationLog.ts"
import { release } from "./version.ts"

const signals = installSignals(process)
const stdout = makeOutput(1)
const stderr = makeOutput(2)
const [, argv0 = process.argv0, ...args] = process.argv

const main = async (): Promise<void> => {
  const read = readFlags(args, argv0)
  if (read.kind === "exit") {
    if (read.stdout !== undefined) stdout.write(read.stdout)
    if (read.stderr !== undefined) stderr.write(read.stderr)
    return process.exit(read.code)
  }
  const { settings } = read
  const decision = decide(settings, argv0, release)
  const log = makeLog(decision.log)
  for (const { line, values } of decision.entries) log.write(line, values)
  if (decision.kind === "probe") {
    const { probe } = await import("./services/probe/probe.ts")
    const { code, line, values } = await probe(settings, args)
    log.write(line, values)
    log.flush()
    return process.exit(code)
  }
  if (decision.kind === "diagnose") {
    const { diagnose } = await import("./services/diagnose/diagnose.ts")
    const { code, text, endHung } = await diagnose(settings, args)
    stdout.write(text)
    endHung()
    return process.exit(code)
  }
  if (decision.kind === "exit") {
    if (decision.stdout !== undefined) stdout.write(decision.stdout)
    if (decision.lastWords !== undefined) writeTerminationLog(terminationMessage(decision.lastWords))
    log.flush()
    return process.exit(decision.code)
  }

  for (const load of pieces) {
    await load()
    await new Promise(setImmediate)
    if (signals.pending()?.kind === "stop") {
      log.flush()
      return process.exit(0)
    }
  }
  const { run } = await loadProgram()
  run({ settings, log, signals, exit: (code) => process.exit(code) })
}

void main()
