/**
 * The program in a snapshot. What main.ts imports is loaded while the snapshot is built, whose environment, arguments and time mean nothing; main.ts itself
 * is run by each start. grpc-js has read its GRPC_… variables by then: it does without them.
 */
import { startupSnapshot } from "node:v8"

import "../../src/services/flags/decide.ts"
import "../../src/services/flags/Flags.ts"
import "../../src/services/load.ts"
import "../../src/services/log/Log.ts"
import "../../src/services/probe/probe.ts"
import "../../src/services/Program.ts"
import "../../src/services/signals/Signals.ts"
import { freshEnvironment } from "../binary/freshEnvironment.ts"

const start = (): void => {
  freshEnvironment()
  void import("../../src/main.ts")
}

// Outside of a build it is a program like any other: a run of it tells which of its functions are needed.
if (startupSnapshot.isBuildingSnapshot()) startupSnapshot.setDeserializeMainFunction(start)
else start()
