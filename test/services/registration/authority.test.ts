// Claim: whatever a client sends as `:authority`, in whichever way HTTP/2 has of sending it, node:http2 accepts the stream behind
// withLegalAuthority and sees all other headers as they were sent; and the connection otherwise behaves as the bare one.
// World: node:http2 as the judge at the other end of an in-memory connection; then grpc-js on a unix socket.
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import * as http2 from "node:http2"
import * as net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Duplex, duplexPair, PassThrough } from "node:stream"

import * as grpc from "@grpc/grpc-js"
import fc from "fast-check"
import { afterEach, assert, beforeEach, describe, it } from "vitest"

import { type InfoRequest, type PluginInfo, RegistrationService } from "../../../proto/generated/pluginregistration.ts"
import { rewriter, withLegalAuthority } from "../../../src/services/registration/authority.ts"
import {
  data,
  frame,
  type Framing,
  type Header,
  headers,
  HpackWriter,
  huffman,
  ping,
  preface,
  settings,
  settingsAck
} from "./http2Writer.ts"

const rawPath = "/var/lib/kubelet/plugins_registry/x-reg.sock"

type Seen = Record<string, string>

/** What node:http2 makes of the bytes of a client: the headers of each stream, in order, and how the connection ended. */
const judge = async (
  bytes: ReadonlyArray<Buffer>,
  wrap = withLegalAuthority
): Promise<{ seen: Array<Seen>; error?: Error }> => {
  const [client, accepted] = duplexPair()
  const server = http2.createServer()
  const seen: Array<Seen> = []
  let error: Error | undefined
  server.on("sessionError", (cause) => {
    error = cause
  })
  server.on("stream", (stream: http2.ServerHttp2Stream, incoming) => {
    seen.push(Object.fromEntries(Object.entries(incoming).map(([name, value]) => [name, String(value)])))
    stream.on("error", () => {}).resume()
    stream.respond({ ":status": 200 }, { endStream: true })
  })
  const closed = new Promise((resolve) => server.once("session", (session) => session.once("close", resolve)))
  server.emit("connection", wrap(accepted))
  client.resume()
  for (const chunk of bytes) client.write(chunk)
  client.end()
  await closed
  return error ? { seen, error } : { seen }
}

const flags = { useTable: fc.boolean(), huffmanName: fc.boolean(), huffmanValue: fc.boolean() }
const as = fc.constantFrom("indexing" as const, "withoutIndexing" as const, "neverIndexed" as const)
const header = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>): fc.Arbitrary<Header> =>
  fc.record({ name, value, as, ...flags })
const printable = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 60
})

const path = fc
  .array(fc.stringMatching(/^[a-zA-Z0-9._ -]{1,12}$/), { minLength: 1, maxLength: 8 })
  .map((parts) => `/${parts.join("/")}`)
const authority = fc.oneof(
  fc.constant(rawPath),
  path,
  fc.constantFrom("localhost", "a", "%2Fvar%2Flib%2Fx-reg.sock"),
  printable.filter((text) => text !== ""),
  fc.integer({ min: 120, max: 400 }).map((length) => `/${"d".repeat(length)}`)
)
const request = fc
  .record({
    path: header(fc.constant(":path"), fc.constantFrom("/", "/pluginregistration.Registration/GetInfo")),
    authority: header(fc.constant(":authority"), authority),
    method: header(fc.constant(":method"), fc.constantFrom("GET", "POST")),
    scheme: header(fc.constant(":scheme"), fc.constant("http")),
    others: fc.uniqueArray(
      header(
        fc.constantFrom("user-agent", "grpc-timeout", "x-a", "x-bbbbbbbb", "x-cccccccccc", "content-type", "te-st"),
        printable
      ),
      { selector: ({ name }) => name, maxLength: 6 }
    ),
    tableBytes: fc.option(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constant(4096)), { nil: undefined })
  })
  .chain(({ path, authority, method, scheme, others, tableBytes }) =>
    fc
      .shuffledSubarray([path, authority, method, scheme], { minLength: 4 })
      .map((pseudo) => ({ fields: [...pseudo, ...others], tableBytes }))
  )
const framing: fc.Arbitrary<Framing> = fc.record({
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }),
  padding: fc.option(fc.nat({ max: 255 }), { nil: undefined }),
  priority: fc.boolean()
})
const between = fc.array(
  fc.constantFrom(ping, settings, frame(8, 0, 0, Buffer.of(0, 0, 1, 0)), frame(0xbe, 0xff, 0, Buffer.alloc(40, 1))),
  {
    maxLength: 2
  }
)
const connection = fc
  .array(fc.record({ request, framing, between, body: fc.option(fc.uint8Array({ maxLength: 3000 })) }), {
    minLength: 1,
    maxLength: 8
  })
  .map((requests) => {
    const hpack = new HpackWriter()
    const frames = requests.flatMap(({ request: { fields, tableBytes }, framing, between, body }, i) => {
      const stream = 2 * i + 1
      return [
        ...between,
        headers(stream, hpack.block(fields, tableBytes), { ...framing, endStream: body === null }),
        ...(body === null ? [] : [data(stream, body, true)])
      ]
    })
    return {
      bytes: Buffer.concat([preface, settings, settingsAck, ...frames]),
      sent: requests.map(
        ({ request: { fields } }): Seen => Object.fromEntries(fields.map(({ name, value }) => [name, value]))
      )
    }
  })

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 })
const cut = (bytes: Buffer, sizes: ReadonlyArray<number>): Array<Buffer> => {
  const chunks: Array<Buffer> = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] as number
    chunks.push(Buffer.from(bytes.subarray(at, at + size)))
    at += size
  }
  return chunks
}
const rewritten = (chunks: ReadonlyArray<Buffer>): Buffer => {
  const rewrite = rewriter()
  return Buffer.concat(
    chunks.map((chunk) => {
      const copy = Buffer.from(chunk)
      rewrite(copy)
      return copy
    })
  )
}

describe("what node:http2 sees", () => {
  it("is localhost, and every other header as it was sent, for any encoding, framing and cut", async () => {
    await fc.assert(
      fc.asyncProperty(connection, sizes, async ({ bytes, sent }, sizes) => {
        const { seen, error } = await judge(cut(bytes, sizes))
        assert.isUndefined(error)
        assert.strictEqual(seen.length, sent.length)
        for (const [i, headers] of seen.entries()) {
          const { ":authority": authority, ...others } = headers
          const { ":authority": original, ...originals } = sent[i] as Seen
          assert.deepStrictEqual(others, originals)
          assert.match(authority as string, /^(localhost\.*|l|lo|loc|loca|local|localh|localho|localhos)$/)
          assert.isAtMost((authority as string).length, (original as string).length)
        }
      }),
      { numRuns: 300 }
    )
  })

  const plain: Header = { name: "", value: "", as: "indexing", useTable: true, huffmanName: false, huffmanValue: false }
  const get = (authority: Partial<Header>): Array<Header> => [
    { ...plain, name: ":method", value: "GET" },
    { ...plain, name: ":scheme", value: "http" },
    { ...plain, name: ":path", value: "/" },
    { ...plain, name: ":authority", value: rawPath, ...authority }
  ]
  const connectionOf = (...blocks: ReadonlyArray<Buffer>) => [
    preface,
    settings,
    ...blocks.map((block, i) => headers(2 * i + 1, block, { cuts: [] }))
  ]

  it.each([
    ["plain", {}],
    ["Huffman-coded", { huffmanValue: true }],
    ["with its name spelt out", { useTable: false }],
    ["with its name spelt out in Huffman code", { useTable: false, huffmanName: true }]
  ])("is a reset stream without the rewrite: %s", async (_, how) => {
    const bytes = connectionOf(new HpackWriter().block(get(how)))
    assert.deepStrictEqual(await judge(bytes, (bare) => bare), { seen: [] })
    assert.match((await judge(bytes)).seen[0]?.[":authority"] as string, /^localhost\.*$/)
  })

  it("is localhost again where a later block refers to the entry, or to its name", async () => {
    const hpack = new HpackWriter()
    const blocks = [get({ huffmanValue: true }), get({}), get({ value: "/other/registration.sock" })].map((fields) =>
      hpack.block(fields)
    )
    assert.isBelow(blocks[1]?.length as number, 5)
    assert.deepStrictEqual(
      (await judge(connectionOf(...blocks))).seen.map((seen) => seen[":authority"]?.slice(0, 9)),
      ["localhost", "localhost", "localhost"]
    )
  })

  it("is right when entries are evicted while the rewritten ones are smaller", async () => {
    const hpack = new HpackWriter()
    const blocks = Array.from({ length: 60 }, (_, i) =>
      hpack.block(
        [
          ...get({ value: `/${"x".repeat(i)}${rawPath}`, huffmanValue: true }),
          { ...plain, name: "x-n", value: `${i % 3}` }
        ],
        i === 0 ? 200 : undefined
      )
    )
    const { seen, error } = await judge(connectionOf(...blocks))
    assert.isUndefined(error)
    assert.deepStrictEqual(
      seen.map((seen) => seen["x-n"]),
      blocks.map((_, i) => `${i % 3}`)
    )
  })

  it("has Huffman codes that node's own decoder agrees with", async () => {
    const value = Array.from({ length: 0x7f - 0x21 }, (_, i) => String.fromCharCode(0x21 + i)).join("")
    const field = Buffer.concat([
      Buffer.of(0, 3, ...Buffer.from("x-a")),
      Buffer.of(0x80 | huffman(value).length),
      huffman(value)
    ])
    const block = Buffer.concat([new HpackWriter().block(get({})), field])
    assert.strictEqual((await judge(connectionOf(block))).seen[0]?.["x-a"], value)
  })

  const broken = [
    ["a frame over the limit", headers(1, Buffer.alloc(17_000, 0x82), { cuts: [] })],
    ["a length without an end", headers(1, Buffer.of(0x41, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), { cuts: [] })],
    ["a value that ends early", headers(1, Buffer.of(0x41, 50, 47), { cuts: [] })],
    ["an index that ends early", headers(1, Buffer.of(0xff), { cuts: [] })],
    ["more padding than frame", frame(1, 0x0c, 1, Buffer.of(200, 0x82))],
    ["a continuation of nothing", frame(9, 4, 1, Buffer.of(0x82))],
    ["a block that is interrupted", Buffer.concat([frame(1, 1, 1, Buffer.of(0x82)), ping])]
  ] as const

  it.each(broken)(
    "is the refusal of %s, as on the bare connection, and nothing is touched after it",
    async (_, bytes) => {
      const all = [preface, settings, bytes]
      const [bare, wrapped] = [await judge(all, (bare) => bare), await judge(all)]
      assert.deepStrictEqual([wrapped.seen, wrapped.error?.message], [bare.seen, bare.error?.message])
      const before = Buffer.concat([...all, headers(3, new HpackWriter().block(get({})), { cuts: [] })])
      assert.isTrue(rewritten([before]).subarray(-60).equals(before.subarray(-60)))
    }
  )
})

describe("the bytes", () => {
  it("do not depend on how they are cut", () => {
    fc.assert(
      fc.property(connection, sizes, ({ bytes }, sizes) => {
        assert.isTrue(rewritten(cut(bytes, sizes)).equals(rewritten([bytes])))
      })
    )
  })

  it("keep their number, and change inside HEADERS and CONTINUATION frames only", () => {
    fc.assert(
      fc.property(connection, ({ bytes }) => {
        const after = rewritten([bytes])
        assert.strictEqual(after.length, bytes.length)
        for (let at = preface.length; at < bytes.length; ) {
          const end = at + 9 + bytes.readUIntBE(at, 3)
          const isBlock = bytes[at + 3] === 1 || bytes[at + 3] === 9
          const same = isBlock ? 9 : end - at
          assert.isTrue(after.subarray(at, at + same).equals(bytes.subarray(at, at + same)))
          at = end
        }
      })
    )
  })

  it.each([
    ["noise", fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes))],
    ["half a preface", fc.nat({ max: 24 }).map((length) => preface.subarray(0, length))],
    [
      "a preface that goes wrong",
      fc.nat({ max: 23 }).map((length) => Buffer.concat([preface.subarray(0, length), Buffer.from("X")]))
    ],
    ["HTTP/1", fc.constant(Buffer.from(`GET ${rawPath} HTTP/1.1\r\nHost: ${rawPath}\r\n\r\n`))]
  ])("are left alone: %s", (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, sizes, (bytes, sizes) => {
        assert.isTrue(rewritten(cut(bytes, sizes)).equals(bytes))
      })
    )
  })

  it("pass, whatever follows the preface", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.uint8Array(), fc.constantFrom(Uint8Array.of(0, 0, 30, 1, 4), Uint8Array.of(0, 0, 30, 9, 0)))
        ),
        sizes,
        (noise, sizes) => {
          const bytes = Buffer.concat([preface, ...noise])
          assert.strictEqual(rewritten(cut(bytes, sizes)).length, bytes.length)
        }
      )
    )
  })
})

describe("the connection", () => {
  // Not "end": the in-memory connection listens for it itself.
  const events = ["data", "error", "close", "drain", "finish", "readable", "pause", "resume"]
  const listeners = (stream: Duplex) => events.map((event) => `${event} ${stream.listenerCount(event)}`)
  const pair = () => {
    const [peer, accepted] = duplexPair({ highWaterMark: 1000 })
    const before = listeners(accepted)
    return {
      peer,
      accepted,
      wrapped: withLegalAuthority(accepted),
      noneLeft: () => assert.deepStrictEqual(listeners(accepted), before)
    }
  }

  it("carries both directions, and each half closes by itself", async () => {
    const { peer, accepted, wrapped, noneLeft } = pair()
    wrapped.cork()
    wrapped.write("to ")
    wrapped.write("the ")
    wrapped.end("peer")
    wrapped.uncork()
    assert.strictEqual(Buffer.concat(await peer.toArray()).toString(), "to the peer")
    assert.isFalse(wrapped.destroyed)
    peer.end("to the server")
    assert.strictEqual(Buffer.concat(await wrapped.toArray()).toString(), "to the server")
    if (!wrapped.closed) await once(wrapped, "close")
    assert.isTrue(accepted.closed)
    noneLeft()
  })

  it("stops reading while nobody reads from it", async () => {
    const { peer, wrapped } = pair()
    let written = 0
    while (written < 10_000_000 && peer.write(Buffer.alloc(1000))) written += 1000
    wrapped.read(0)
    for (let turns = 0; turns < 1000; turns++) {
      while (!peer.writableNeedDrain && written < 10_000_000) {
        peer.write(Buffer.alloc(1000))
        written += 1000
      }
      await new Promise(setImmediate)
    }
    assert.isBelow(written, 200_000)
    peer.end()
    let read = 0
    for await (const chunk of wrapped) read += chunk.length
    assert.isAtLeast(read, written)
    wrapped.destroy()
  })

  it("says so when the peer does not read", async () => {
    const { peer, wrapped } = pair()
    let written = 0
    for (let more = true; more; written++) more = wrapped.write(Buffer.alloc(1000))
    assert.isBelow(written, 100)
    peer.resume()
    await once(wrapped, "drain")
    wrapped.destroy()
  })

  it("hands an error on, and is gone with it", async () => {
    const { accepted, wrapped, noneLeft } = pair()
    const failed = once(wrapped, "error")
    accepted.destroy(new Error("ECONNRESET"))
    assert.strictEqual(((await failed)[0] as Error).message, "ECONNRESET")
    if (!wrapped.closed) await once(wrapped, "close")
    noneLeft()
  })

  it("takes an error without a listener for the end of the connection only", async () => {
    const { accepted, wrapped } = pair()
    accepted.destroy(new Error("ECONNRESET"))
    await new Promise((resolve) => wrapped.once("close", resolve))
    assert.strictEqual(wrapped.errored?.message, "ECONNRESET")
  })

  it("destroys what is beneath, and is closed after it", async () => {
    const { accepted, wrapped, noneLeft } = pair()
    wrapped.destroy()
    await once(wrapped, "close")
    assert.isTrue(accepted.closed)
    noneLeft()
  })

  it("ends when what is beneath is destroyed without a word", async () => {
    const { accepted, wrapped, noneLeft } = pair()
    accepted.destroy()
    await once(wrapped, "close")
    noneLeft()
  })

  it("still gives what was received before an orderly end", async () => {
    const beneath = new PassThrough()
    const wrapped = withLegalAuthority(beneath)
    wrapped.read(0)
    beneath.end("last words")
    wrapped.end()
    if (!beneath.closed) await once(beneath, "close")
    assert.strictEqual(Buffer.concat(await wrapped.toArray()).toString(), "last words")
    if (!wrapped.closed) await once(wrapped, "close")
  })
})

describe("grpc-js on a unix socket", () => {
  let dir: string
  const cleanups: Array<() => void> = []
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "authority-"))
  })
  afterEach(() => {
    for (const cleanup of cleanups.splice(0).reverse()) cleanup()
    rmSync(dir, { recursive: true })
  })

  /** Asks for GetInfo `times` times over one connection, as the kubelet does on a registration socket. */
  const ask = async (
    wrap: (socket: net.Socket) => Duplex,
    authority: string,
    times = 1
  ): Promise<Array<PluginInfo>> => {
    const info = { type: "CSIPlugin", name: "a.driver", endpoint: "/csi/csi.sock", supported_versions: ["1.0.0"] }
    const grpcServer = new grpc.Server()
    grpcServer.addService(RegistrationService, {
      GetInfo: (_call: unknown, reply: grpc.sendUnaryData<PluginInfo>) => reply(null, info),
      NotifyRegistrationStatus: () => {}
    })
    const injector = grpcServer.createConnectionInjector(grpc.ServerCredentials.createInsecure())
    const listener = net.createServer((socket) => injector.injectConnection(wrap(socket)))
    listener.listen(join(dir, "reg.sock"))
    const client = new grpc.Client(`unix:${join(dir, "reg.sock")}`, grpc.credentials.createInsecure(), {
      "grpc.default_authority": authority
    })
    cleanups.push(() => {
      client.close()
      grpcServer.forceShutdown()
      listener.close()
    })
    const { path, requestSerialize, responseDeserialize } = RegistrationService.GetInfo
    const answers: Array<PluginInfo> = []
    for (let i = 0; i < times; i++) {
      answers.push(
        await new Promise<PluginInfo>((resolve, reject) =>
          client.makeUnaryRequest<InfoRequest, PluginInfo>(
            path,
            requestSerialize,
            responseDeserialize,
            {},
            (error, answer) => (answer ? resolve(answer) : reject(error))
          )
        )
      )
    }
    return answers
  }

  it("resets a client that sends the raw path, if nothing is done", async () => {
    const error = await ask((socket) => socket, rawPath).then(
      () => assert.fail("answered"),
      (error: grpc.ServiceError) => error
    )
    assert.match(error.details, /RST_STREAM.*code.*1|PROTOCOL_ERROR/)
  })

  it.each([rawPath, "/r.sock", "localhost", encodeURIComponent(rawPath)])(
    "answers a client that sends %s",
    async (authority) => {
      const answers = await ask(withLegalAuthority, authority, 3)
      assert.deepStrictEqual(
        answers.map(({ name }) => name),
        ["a.driver", "a.driver", "a.driver"]
      )
    }
  )
})
