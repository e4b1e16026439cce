/** Claim: what is wanted of a driver's answers is read as protobufjs reads it, whatever else they hold; bytes that are no message are told apart. */
import fc from "fast-check"
import protobuf from "protobufjs"
import { assert, it } from "vitest"

import {
  readCapabilities,
  readNodeInfo,
  readPluginInfo,
  readProbe,
  readRegisteredName
} from "../../../src/services/diagnose/messages.ts"

const { root } = protobuf.parse(
  `syntax = "proto3";
  message PluginInfo { string name = 1; string vendor_version = 2; map<string, string> manifest = 3; }
  message BoolValue { bool value = 1; }
  message Probe { BoolValue ready = 1; }
  message Service { int32 type = 1; }
  message Capability { oneof type { Service service = 1; Service volume_expansion = 2; } }
  message Capabilities { repeated Capability capabilities = 1; }
  message Topology { map<string, string> segments = 1; }
  message NodeInfo { string node_id = 1; int64 max_volumes_per_node = 2; Topology accessible_topology = 3; }
  message RegisteredInfo { string type = 1; string name = 2; string endpoint = 3; repeated string supported_versions = 4; }`,
  { keepCase: true }
)
const encode = (type: string, message: object): Uint8Array => root.lookupType(type).encode(message).finish()

const text = fc.string({ unit: "grapheme" })
const key = text.filter((name) => name !== "__proto__")

it("a name and a version", () => {
  fc.assert(
    fc.property(text, text, fc.dictionary(key, text), (name, vendor_version, manifest) => {
      const bytes = encode("PluginInfo", { name, vendor_version, manifest })
      assert.deepEqual(readPluginInfo(bytes), { name, version: vendor_version })
    })
  )
})

it("a driver that does not say is ready", () => {
  assert.deepEqual(readProbe(encode("Probe", {})), { ready: true })
  assert.deepEqual(readProbe(encode("Probe", { ready: {} })), { ready: false })
  for (const value of [true, false]) {
    assert.deepEqual(readProbe(encode("Probe", { ready: { value } })), { ready: value })
  }
})

it("how many capabilities", () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), (types) => {
      const capabilities = types.map((type) => ({ service: { type } }))
      assert.deepEqual(readCapabilities(encode("Capabilities", { capabilities })), { count: types.length })
    })
  )
})

it("a node", () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.dictionary(key, text), (node_id, max_volumes_per_node, segments) => {
      const bytes = encode("NodeInfo", { node_id, max_volumes_per_node, accessible_topology: { segments } })
      assert.deepEqual(readNodeInfo(bytes), {
        nodeId: node_id,
        maxVolumes: max_volumes_per_node,
        topology: Object.entries(segments).map((entry) => entry.join("="))
      })
    })
  )
})

it("the name that a plugin registers", () => {
  const bytes = encode("RegisteredInfo", { type: "CSIPlugin", name: "a.example.com", supported_versions: ["1.0.0"] })
  assert.equal(readRegisteredName(bytes), "a.example.com")
})

it("noise is an answer or none, never an error", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      for (const read of [readPluginInfo, readProbe, readCapabilities, readNodeInfo, readRegisteredName]) read(bytes)
    })
  )
  assert.isUndefined(readPluginInfo(Buffer.from([0x0a, 5, 1])))
})
