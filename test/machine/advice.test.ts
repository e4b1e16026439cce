/** Claim: each refusal that the kubelet is known to send, in the words of its releases, is met with an advice that names whose side it is. */
import { assert, describe, it } from "@effect/vitest"

import { adviceFor, adviceText, known, type Side } from "../../src/machine/advice.ts"

const endpoint = "/var/lib/kubelet/plugins/a.example.com/csi.sock"
const failed = (reason: string) => `RegisterPlugin error -- plugin registration failed with err: ${reason}`
const dialing = (colon: string, path: string, why: string) =>
  `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing${colon} dial unix ${path}: connect: ${why}"`
const invalid = (reason: string) =>
  `RegisterPlugin error -- plugin validation failed with err: validation failed for CSI Driver a.example.com at endpoint ${endpoint}: kubernetes.io/csi: ValidatePlugin for CSI driver "a.example.com" failed. ${reason}`
const updating = (object: string, why: string) =>
  failed(
    `error updating ${object} object with CSI driver node info: error updating ${object.toLowerCase()}: timed out waiting for the condition; caused by: ${why}`
  )

const refusals: ReadonlyArray<readonly [side: Side, means: RegExp, text: string]> = [
  [
    "kubelet",
    /no CSI drivers/,
    "RegisterPlugin error -- no handler registered for plugin type: CSIPlugin at socket /var/lib/kubelet/plugins_registry/a.example.com-reg.sock"
  ],
  ["kubelet", /version/, invalid("Plugin returned an empty list for supported versions")],
  [
    "kubelet",
    /version/,
    invalid(
      'None of the versions specified ["2.0.0"] are supported. err=could not find a highest supported version from versions ([2.0.0]) reported: <nil>'
    )
  ],
  [
    "kubelet",
    /version/,
    invalid(
      'None of the versions specified ["0.3.0"] are supported. err=highest supported version reported is 0.3.0, must be v1.x'
    )
  ],
  [
    "manifest",
    /at another socket/,
    invalid('Another driver with the same name is already registered with a higher supported version: "1.0.0"')
  ],
  ["manifest", /no socket/, failed(dialing(":", endpoint, "no such file or directory"))],
  ["manifest", /no socket/, failed(dialing("", endpoint, "no such file or directory"))],
  ["manifest", /plain path/, failed(dialing(":", `unix://${endpoint}`, "no such file or directory"))],
  ["driver", /nobody listens/, failed(dialing(":", endpoint, "connection refused"))],
  ["kubelet", /may not connect/, failed(dialing(":", endpoint, "permission denied"))],
  ["manifest", /could not reach/, failed(dialing(":", endpoint, "protocol wrong type for socket"))],
  ["driver", /two minutes/, failed("rpc error: code = DeadlineExceeded desc = context deadline exceeded")],
  ["driver", /does not implement/, failed("rpc error: code = Unimplemented desc = unknown service csi.v1.Node")],
  ["driver", /with an error/, failed("rpc error: code = Internal desc = no metadata")],
  ["driver", /empty node_id/, failed("error adding CSI driver node info: driverNodeID must not be empty")],
  ["driver", /no name/, failed("driver name is empty")],
  [
    "driver",
    /topology/,
    updating("Node", 'detected topology value collision: driver reported "zone":"a" but existing label is "zone":"b"')
  ],
  ["kubelet", /does not exist yet/, updating("CSINode", 'nodes "node-1" not found')],
  [
    "cluster",
    /earlier node/,
    updating("CSINode", 'CSINode "node-1" was owned by different node (oldNodeID="x", newNodeID="y"), deleted it')
  ],
  [
    "cluster",
    /may not be changed/,
    updating(
      "CSINode",
      'CSINode.storage.k8s.io "node-1" is invalid: spec.drivers[0].nodeID: Invalid value: field is immutable'
    )
  ],
  ["cluster", /could not write/, updating("CSINode", "Unauthorized")]
]

describe("a refusal", () => {
  it.each(refusals)("is a matter of the %s: %s", (side, means, text) => {
    const advice = adviceFor(text)
    assert.strictEqual(advice?.side, side)
    assert.match(advice?.means ?? "", means)
    assert.strictEqual(adviceText(text), `${side}: ${advice?.means}; ${advice?.toDo}`)
  })

  it("that is not known has no advice", () => {
    assert.isUndefined(adviceFor("something new"))
    assert.strictEqual(adviceText("something new"), "")
  })

  it("of each kind that is known has a row here", () => {
    const hit = new Set(refusals.map(([, , text]) => known.find((entry) => entry.text.test(text))))
    assert.strictEqual(hit.size, known.length)
  })
})
