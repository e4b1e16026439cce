/**
 * Every line that is printed, but for those of transitions and the last words (machine/report.ts): text, severity, level, caller. People grep for these, so a text changes only on purpose.
 * The first part is that of node-driver-registrar v2.17: texts and levels to the letter, and the source positions too,
 * since `--vmodule` selects by them. Which transition logs which line is decided in machine/report.ts.
 * Left out there: the lines on the Go scheduler (`maxprocs: …`) and on Go's accept loop, which have no counterpart here.
 */

import type { Line } from "./Log.ts"

function info(caller: string, v: number, message: string): Line {
  return { severity: "info", v, caller, message }
}

function error(caller: string, message: string): Line {
  return { severity: "error", v: 0, caller, message }
}

// --- upstream: start ------------------------------------------------------------------------------------------------

/** err */
export const loggingInvalid = error("main.go:125", "LoggingConfiguration is invalid")
export const pathRequired = error("main.go:135", "kubelet-registration-path is a required parameter")
/** version */
export const version = info("main.go:145", 0, "Version")
/** mode: the text of the flag */
export const running = info("main.go:146", 0, "Running node-driver-registrar")
export const bothHealthFlags = error("main.go:149", "Only one of `--health-port` and `--http-endpoint` can be set")
export const connectionTimeoutDeprecated = info(
  "main.go:160",
  0,
  "--connection-timeout is deprecated and will have no effect"
)

// --- upstream: the driver -------------------------------------------------------------------------------------------

/** csiAddress: as given */
export const openingConnection = info("main.go:163", 1, "Attempting to open a gRPC connection")
/** address: with its scheme */
export const connecting = info("connection/connection.go:234", 5, "Connecting")
/** address */
export const stillConnecting = info("connection/connection.go:253", 0, "Still connecting")
/** err */
export const errorConnecting = error("main.go:167", "Error connecting to CSI driver")
export const callingDriver = info("main.go:171", 1, "Calling CSI driver to discover driver name")
/** method, request: JSON text */
export const grpcCall = info("connection/connection.go:264", 5, "GRPC call")
/** response: JSON text, `{}` on error; err: null or the text */
export const grpcResponse = info("connection/connection.go:270", 5, "GRPC response")
/** csiDriverName */
export const driverName = info("main.go:180", 2, "CSI driver name")

// --- upstream: the registration socket ------------------------------------------------------------------------------

/** socketPath */
export const startingServer = info("node_register.go:56", 0, "Starting Registration Server")
/** socketPath */
export const serverStarted = info("node_register.go:66", 0, "Registration Server started")

// --- upstream: the kubelet ------------------------------------------------------------------------------------------

/** request: text form, empty as a rule */
export const getInfo = info("main.go:90", 4, "Received GetInfo call")
/** status: text form */
export const notify = info("main.go:102", 0, "Received NotifyRegistrationStatus call")

// --- upstream: HTTP -------------------------------------------------------------------------------------------------

export const skippingHttp = info("node_register.go:96", 0, "Skipping HTTP server")
/** endpoint */
export const startingHttp = info("node_register.go:99", 0, "Starting HTTP server")
/** endpoint */
export const startingProfiling = info("node_register.go:129", 0, "Starting profiling")
/** err. Without a text of its own, as upstream. */
export const httpError = error("node_register.go:138", "")
/** socketfile */
export const healthCheckConnecting = info("node_register.go:144", 4, "Attempting to open a gRPC connection")
export const healthCheckCalling = info(
  "node_register.go:152",
  4,
  "Calling node registrar to check if it still responds"
)
export const healthCheckSucceeded = info("node_register.go:115", 5, "Health check succeeded")
/** err */
export const healthCheckFailed = error("node_register.go:111", "Health check failed")
export const healthCheckNoSocket = error(
  "node_register.go:124",
  "Health check failed, registration socket does not exist"
)

// --- ours -----------------------------------------------------------------------------------------------------------
// The caller is `registrar.ts:N`. N is an invented position: the next free ten, never given twice, never changed.

/** flags: the names, as given */
export const deprecatedFlags = info("registrar.ts:10", 0, "Flags of klog are accepted and have no effect")
/** state: its name; value, context: JSON */
export const dumpState = info("registrar.ts:20", 0, "SIGQUIT: state")
/** at, event, before, after */
export const dumpTransition = info("registrar.ts:30", 0, "SIGQUIT: transition")
/** err */
export const programFault = error("registrar.ts:40", "The registrar itself has failed")
/** state, pid */
export const probeSucceeded = info("registrar.ts:50", 0, "Probe succeeded")
/** kubeletRegistrationPath; err, pid: of a registrar that cannot be asked */
export const probeNobody = info("registrar.ts:60", 0, "Probe succeeded, no registrar to ask")
/** err, state, pid */
export const probeFailed = error("registrar.ts:70", "Probe failed")
/** err, folder */
export const statusSocketFailed = info("registrar.ts:80", 2, "Probes cannot ask this registrar")
/** path, advice */
export const suspiciousPath = error("registrar.ts:90", "The kubelet will hardly reach --kubelet-registration-path")
export const windowsUnsupported = error(
  "registrar.ts:100",
  "Windows nodes are not supported; run kubernetes-csi/node-driver-registrar there"
)
/** event, from, to: lifecycle states; driverConnected */
export const transition = info("registrar.ts:170", 2, "Transition")
