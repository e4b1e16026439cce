/** Claim: upstream's lines, those of transitions and last words included, are upstream's to the letter, and the positions of our own are unique. */

import { assert, describe, it } from "vitest"

import { reportLines } from "../../../src/machine/report.ts"
import * as catalogue from "../../../src/services/log/catalogue.ts"
import type { Line } from "../../../src/services/log/Log.ts"

const known = Object.values<unknown>(catalogue).filter((each): each is Line => typeof each === "object")
const told = Object.values<Line>(reportLines)
/** Said of a bad address before there is a chart, and by the chart. */
const twice = "main.go:167"
const lines = [...known, ...told.filter(({ caller }) => caller !== twice)]
const shown = lines.map(({ caller, severity, v, message }) => `${caller} ${severity === "error" ? "E" : v} ${message}`)

describe("the catalogue", () => {
  it("has every line of upstream that has a counterpart, and nothing else at upstream's positions", () => {
    assert.sameMembers(
      shown.filter((line) => !line.startsWith("registrar.ts:")),
      [
        "main.go:125 E LoggingConfiguration is invalid",
        "main.go:135 E kubelet-registration-path is a required parameter",
        "main.go:145 0 Version",
        "main.go:146 0 Running node-driver-registrar",
        "main.go:149 E Only one of `--health-port` and `--http-endpoint` can be set",
        "main.go:160 0 --connection-timeout is deprecated and will have no effect",
        "main.go:163 1 Attempting to open a gRPC connection",
        "connection/connection.go:234 5 Connecting",
        "connection/connection.go:253 0 Still connecting",
        "main.go:167 E Error connecting to CSI driver",
        "main.go:171 1 Calling CSI driver to discover driver name",
        "connection/connection.go:264 5 GRPC call",
        "connection/connection.go:270 5 GRPC response",
        "main.go:177 E Error retreiving CSI driver name",
        "main.go:180 2 CSI driver name",
        "node_register.go:56 0 Starting Registration Server",
        "node_register.go:59 E Failed to listen on socket",
        "node_register.go:66 0 Registration Server started",
        "node_register.go:96 0 Skipping HTTP server",
        "node_register.go:99 0 Starting HTTP server",
        "node_register.go:129 0 Starting profiling",
        "node_register.go:138 E ",
        "main.go:90 4 Received GetInfo call",
        "main.go:102 0 Received NotifyRegistrationStatus call",
        "main.go:104 E Registration process failed with error, restarting registration container",
        "node_register.go:144 4 Attempting to open a gRPC connection",
        "node_register.go:152 4 Calling node registrar to check if it still responds",
        "node_register.go:115 5 Health check succeeded",
        "node_register.go:111 E Health check failed",
        "node_register.go:124 E Health check failed, registration socket does not exist",
        "node_register.go:186 E Failed to remove socket with error"
      ]
    )
  })

  it("gives every line a position of its own", () => {
    assert.equal(new Set(lines.map((line) => line.caller)).size, lines.length)
  })
})
