// Claim: the codecs in proto/generated speak protobuf exactly as @grpc/proto-loader does with the same .proto files, refuse bad bytes
// with an Error, never hang, and are what scripts/genCodecs.ts writes today.
// World: both implementations side by side, on random messages, on random well-formed bytes, and on noise.
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import * as grpc from "@grpc/grpc-js"
import { loadSync, type MessageTypeDefinition } from "@grpc/proto-loader"
import fc from "fast-check"
import { assert, describe, it } from "vitest"

import type { Codec } from "../../proto/codec.ts"
import * as csi from "../../proto/generated/csi.ts"
import * as registration from "../../proto/generated/pluginregistration.ts"
import { generate, generateAll } from "../../scripts/genCodecs.ts"

const reference = loadSync(
  ["csi", "pluginregistration"].map((name) => fileURLToPath(new URL(`../../proto/${name}.proto`, import.meta.url))),
  { keepCase: true, defaults: true }
)

/** Any text, with the lengths that move a size to a second and third byte. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(0, 1, 39, 40, 127, 128, 16_383, 16_384).map((length) => "x".repeat(length))
)
const optional = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<object>

const messages: ReadonlyArray<{ name: string; codec: Codec<object>; arbitrary: fc.Arbitrary<object> }> = [
  { name: "csi.v1.GetPluginInfoRequest", codec: csi.GetPluginInfoRequest, arbitrary: fc.constant({}) },
  {
    name: "csi.v1.GetPluginInfoResponse",
    codec: csi.GetPluginInfoResponse,
    arbitrary: optional({
      name: text,
      vendor_version: text,
      manifest: fc.dictionary(fc.oneof(text, fc.constant("constructor")), text, { noNullPrototype: true })
    })
  },
  { name: "pluginregistration.InfoRequest", codec: registration.InfoRequest, arbitrary: fc.constant({}) },
  {
    name: "pluginregistration.PluginInfo",
    codec: registration.PluginInfo,
    arbitrary: optional({ type: text, name: text, endpoint: text, supported_versions: fc.array(text) })
  },
  {
    name: "pluginregistration.RegistrationStatus",
    codec: registration.RegistrationStatus,
    arbitrary: optional({ plugin_registered: fc.boolean(), error: text })
  },
  {
    name: "pluginregistration.RegistrationStatusResponse",
    codec: registration.RegistrationStatusResponse,
    arbitrary: fc.constant({})
  }
]

const varint = (value: number): Array<number> =>
  value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))]
const tagged = (number: number, type: number, content: ReadonlyArray<number>) =>
  Buffer.from([...varint(number * 8 + type), ...content])
const delimited = (number: number, content: Uint8Array) => tagged(number, 2, [...varint(content.length), ...content])

/** Fields past every known number, of each wire type proto3 has. */
const unknownField = fc.integer({ min: 5, max: 2 ** 29 - 1 }).chain((number) =>
  fc.oneof(
    fc.nat().map((value) => tagged(number, 0, varint(value))),
    fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => tagged(number, 1, [...bytes])),
    fc.uint8Array().map((bytes) => delimited(number, bytes)),
    fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => tagged(number, 5, [...bytes]))
  )
)

describe.each(messages)("$name", ({ name, codec, arbitrary }) => {
  const { serialize, deserialize } = reference[name] as MessageTypeDefinition<object, object>

  it("has the bytes of proto-loader, whichever fields are set", () => {
    fc.assert(fc.property(arbitrary, (message) => assert.deepStrictEqual(codec.encode(message), serialize(message))))
  })

  it("reads what proto-loader reads: repeated messages, unknown fields between them, in any order", () => {
    const pieces = fc.array(
      fc.oneof(
        arbitrary.map((message) => serialize(message)),
        unknownField
      )
    )
    fc.assert(
      fc.property(pieces, (parts) => {
        const bytes = Buffer.concat(parts)
        assert.deepStrictEqual(codec.decode(bytes), deserialize(bytes))
      })
    )
  })

  it("throws on every cut inside a field", () => {
    fc.assert(
      fc.property(arbitrary, fc.nat(), (message, at) => {
        const bytes = codec.encode(message)
        const field = delimited(1000, bytes)
        const cut = field.subarray(0, 1 + (at % (field.length - 1)))
        assert.throws(() => codec.decode(cut), "unexpected end of message")
      })
    )
  })

  it("answers noise with a message or an Error", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.array(fc.constantFrom(8, 10, 18, 26, 34, 1, 0)).map((bytes) => Uint8Array.from(bytes))
        ),
        (bytes) => {
          try {
            codec.encode(codec.decode(bytes))
          } catch (error) {
            assert.instanceOf(error, Error)
          }
        }
      ),
      { numRuns: 2000 }
    )
  })
})

describe("decode", () => {
  const { decode } = registration.RegistrationStatus
  const empty = { plugin_registered: false, error: "" }

  it.each([
    ["a string", delimited(2, Buffer.from([0xc3, 0x28]))],
    ["an encoded surrogate", delimited(2, Buffer.from([0xed, 0xa0, 0x80]))]
  ])("refuses invalid UTF-8: %s", (_, bytes) => {
    assert.throws(() => decode(bytes), "string field contains invalid UTF-8")
  })

  it.each([1, 2])("refuses invalid UTF-8 in part %i of a map's entry", (part) => {
    const bytes = delimited(3, delimited(part, Buffer.from([0xff])))
    assert.throws(() => csi.GetPluginInfoResponse.decode(bytes), "string field contains invalid UTF-8")
  })

  it.each([3, 4, 6, 7])("refuses wire type %i, known field or not", (type) => {
    for (const number of [1, 2, 99])
      assert.throws(() => decode(tagged(number, type, [])), `unsupported wire type ${type}`)
  })

  it("refuses field numbers that do not exist", () => {
    for (const number of [0, 2 ** 29])
      assert.throws(() => decode(tagged(number, 0, [0])), `invalid field number ${number}`)
  })

  it("refuses a varint without an end", () => {
    assert.throws(() => decode(Buffer.alloc(1000, 0xff)), "varint is longer than 10 bytes")
  })

  it("refuses a length that no input can have", () => {
    assert.throws(() => decode(tagged(2, 2, varint(2 ** 63))), "unexpected end of message")
  })

  it("skips a known field of another wire type, as the specification asks", () => {
    assert.deepStrictEqual(decode(Buffer.concat([delimited(1, Buffer.from("x")), tagged(2, 0, [1])])), empty)
  })

  it("takes any number but zero for true", () => {
    for (const value of [1, 2, 2 ** 32, 2 ** 60]) assert.isTrue(decode(tagged(1, 0, varint(value))).plugin_registered)
    assert.isFalse(decode(tagged(1, 0, [0x80, 0x80, 0])).plugin_registered)
  })

  it("gives a map entry without key or value an empty one, and takes __proto__ for a name", () => {
    const manifest = (entry: Uint8Array) =>
      Object.entries(csi.GetPluginInfoResponse.decode(delimited(3, entry)).manifest)
    assert.deepStrictEqual(manifest(Buffer.of()), [["", ""]])
    assert.deepStrictEqual(manifest(delimited(1, Buffer.from("__proto__"))), [["__proto__", ""]])
  })

  it("keeps a byte order mark", () => {
    assert.strictEqual(decode(delimited(2, Buffer.from("\ufeffx"))).error, "\ufeffx")
  })
})

it("encodes a lone surrogate as the replacement character", () => {
  const { encode, decode } = registration.RegistrationStatus
  assert.strictEqual(decode(encode({ error: "a\ud800b" })).error, "a\ufffdb")
})

describe("services", () => {
  it.each([
    ["csi.v1.Identity", csi.IdentityService],
    ["pluginregistration.Registration", registration.RegistrationService]
  ] as const)("%s has proto-loader's methods, paths and kinds", (name, service) => {
    const shape = (definition: grpc.ServiceDefinition) =>
      Object.entries(definition).map(([method, { path, requestStream, responseStream }]) => ({
        method,
        path,
        requestStream,
        responseStream
      }))
    assert.deepStrictEqual(shape(service), shape(reference[name] as grpc.ServiceDefinition))
  })

  it("are accepted by grpc-js", () => {
    const server = new grpc.Server()
    server.addService(registration.RegistrationService, { GetInfo: () => {}, NotifyRegistrationStatus: () => {} })
    const client = new (grpc.makeClientConstructor(csi.IdentityService, "csi.v1.Identity"))(
      "unix:/x",
      grpc.credentials.createInsecure()
    )
    client.close()
  })
})

describe("scripts/genCodecs.ts", () => {
  it.each(generateAll())("wrote $path as it is", ({ path, text }) => {
    assert.strictEqual(readFileSync(path, "utf8"), text)
    assert.match(text.slice(0, text.indexOf("\n")), /^\/\/ Generated .*node scripts\/genCodecs\.ts/)
  })

  const file = (body: string) => `syntax = "proto3";\npackage p;\nmessage A {}\n${body}`
  it.each([
    ["another type", file("message M { int64 a = 1; }"), "M.a: the type int64 is not supported"],
    ["a message inside", file("message M { A a = 1; }"), "M.a: the type A is not supported"],
    ["another map", file("message M { map<string, bool> a = 1; }"), "M.a: the type map<string, bool> is not supported"],
    ["repeated bool", file("message M { repeated bool a = 1; }"), "M.a: the type repeated bool is not supported"],
    ["an enum", file("enum E { X = 0; }"), "E: a Enum is not supported"],
    ["a nested message", file("message M { message N {} }"), "M: nested definitions are not supported"],
    ["a oneof", file("message M { oneof o { string a = 1; } }"), "M: oneof and optional are not supported"],
    ["optional", file("message M { optional string a = 1; }"), "M: oneof and optional are not supported"],
    ["a field option", file("message M { string a = 1 [deprecated = true]; }"), "M.a: options are not supported"],
    ["a stream", file("service S { rpc R(stream A) returns (A) {} }"), "S.R: streams are not supported"],
    ["a foreign message", file("service S { rpc R(A) returns (q.B) {} }"), "S.R: q.B is not a message of this file"],
    ["an import", 'syntax = "proto3";\npackage p;\nimport "x.proto";', "import: imports are not supported"],
    ["proto2", 'syntax = "proto2";\npackage p;', "syntax: only proto3 is supported"]
  ])("refuses %s", (_, source, reason) => {
    assert.throws(() => generate(source, "x.proto"), reason)
  })
})
