// The registrar from its sources, with its own flags, telling each inspection event of its chart to the relay that INSPECT_RELAY names.
import { request } from "node:http"

import { createInspector } from "@statelyai/inspect"

import { decide } from "../../src/services/flags/decide.ts"
import { readFlags } from "../../src/services/flags/Flags.ts"
import { makeLog } from "../../src/services/log/Log.ts"
import { run } from "../../src/services/Program.ts"
import { installSignals } from "../../src/services/signals/Signals.ts"
import { release } from "../../src/version.ts"

const [, name = "", ...args] = process.argv
const signals = installSignals(process)
const read = readFlags(args, name)
if (read.kind === "exit") {
  process.stdout.write(read.stdout ?? "")
  process.stderr.write(read.stderr ?? "")
  process.exit(read.code)
}
const decision = decide(read.settings, name, release)
const log = makeLog(decision.log)
for (const { line, values } of decision.entries) log.write(line, values)
if (decision.kind !== "run") {
  log.flush()
  process.exit(decision.kind === "exit" ? decision.code : 2)
}

const events = request(`${process.env.INSPECT_RELAY}/events`, { method: "POST" })
// Nobody looks any more.
events.on("error", () => {})
events.flushHeaders()
const inspector = createInspector({ send: (event) => void events.write(`${JSON.stringify(event)}\n`) })
run({
  settings: read.settings,
  log,
  signals,
  exit: (code) => events.end(() => process.exit(code)),
  inspect: (event) => inspector.inspect.next?.(event)
})
