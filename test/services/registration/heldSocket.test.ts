/**
 * Claim: whatever two registrars of ours, a rival that replaces by name, one that renames, and somebody who removes and leaves things do to one folder,
 * in whatever order and at the same moment: neither of ours removes a live socket that is not its own (but for a first announcement, where the
 * newest wins), or touches what is no socket; each has one socket at most and knows whether it is in place; at the end nothing of theirs is left.
 *
 * The world is a real folder with two names, and every move ends before the next one begins. It takes 0.2 s to find that a socket is dead, so dead ones are rare.
 */
import * as fs from "node:fs"
import * as http2 from "node:http2"
import * as net from "node:net"
import * as path from "node:path"

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

import { makeHeldSocket } from "../../../src/services/registration/heldSocket.ts"
import { tempFolder } from "../../fakes/tempFolder.ts"
import { makeFakeLog } from "../../fakes/World.ts"

const runs = 200
/** The first is the one that everybody fights for. */
const names = ["a.example.com", "b.example.com"] as const
const registrars = ["A", "B"] as const
const rivals = ["byName", "renaming"] as const

const pick = <const A extends ReadonlyArray<string | number | boolean>>(values: A) => Schema.Literals(values)
const who = pick(registrars)
const rival = pick(rivals)

const announce = Schema.Struct({
  does: Schema.Literal("announce"),
  who,
  name: pick([0, 0, 0, 1]),
  takeOver: Schema.Boolean
})
const inspect = Schema.Struct({ does: Schema.Literal("inspect"), who })
const letGo = Schema.Struct({ does: Schema.Literal("letGo"), who })
const come = Schema.Struct({ does: Schema.Literal("come"), rival })
const leave = Schema.Struct({ does: Schema.Literal("leave"), rival })
const unlink = Schema.Struct({ does: Schema.Literal("unlink") })
const leaveFile = Schema.Struct({ does: Schema.Literal("leaveFile") })

/** What is listed more often happens more often. */
const ours = [announce, announce, announce, inspect, inspect, letGo] as const
const others = [come, come, leave, unlink, leaveFile] as const

const Ours = Schema.Union(ours)
const Others = Schema.Union(others)
/** `rare` decides whether it happens: one in ten, since each costs a long look. */
const LeaveDead = Schema.Struct({
  does: Schema.Literal("leaveDead"),
  rare: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))
})
/** One of ours, and somebody else in the middle of it. */
const Clash = Schema.Struct({ does: Schema.Literal("clash"), first: Ours, second: Others, afterMs: pick([0, 1, 2, 3]) })
/** Both of ours at the same time. */
const Race = Schema.Struct({ does: Schema.Literal("race"), first: Ours, second: Ours, afterMs: pick([0, 1, 2, 3]) })

const Move = Schema.Union([...ours, ...others, LeaveDead, Clash, Race])
const Moves = Schema.Array(Move).check(Schema.isMinLength(20), Schema.isMaxLength(40))

type OurMove = typeof Ours.Type
type OtherMove = typeof Others.Type | typeof LeaveDead.Type

interface Rival {
  readonly server: http2.Http2Server
  readonly identity: string
}

const identityOf = ({ dev, ino, birthtimeMs }: fs.Stats) => `${dev}:${ino}:${birthtimeMs}`

const whatIsAt = (file: string) => {
  const stats = fs.lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  return { identity: identityOf(stats), isSocket: stats.isSocket() }
}

/** The first connection to a path reaches whoever serves it. */
const reaches = (file: string) =>
  Effect.callback<boolean>((resume) => {
    const socket = net.connect(file)
    socket.on("connect", () => resume(Effect.succeed(true)))
    socket.on("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => socket.destroy())
  })

const makeRegistrar = (folder: string) => {
  const api = http2.createServer()
  let accepted = 0
  const held = makeHeldSocket({
    folder,
    accept: (socket) => {
      accepted++
      api.emit("connection", socket)
    },
    log: makeFakeLog().log
  })
  const mine = new Set<string>()
  const own = () => {
    const socket = held.own()
    return socket === undefined ? undefined : `${socket.device}:${socket.inode}:${socket.bornMs}`
  }
  return { held, own, mine, accepted: () => accepted }
}

const makeWorld = Effect.gen(function* () {
  const root = yield* tempFolder
  const folder = path.join(root, "registry")
  fs.mkdirSync(folder)
  const known = fs.statSync(folder)
  const paths = names.map((name) => path.join(folder, `${name}-reg.sock`))
  const contested = paths[0]!
  const world = { A: makeRegistrar(folder), B: makeRegistrar(folder) }
  const present = new Map<(typeof rivals)[number], Rival>()
  let bound = 0

  const listening = (server: net.Server, at: string) => {
    // A path is bound within the call.
    server.listen(at)
    return identityOf(fs.lstatSync(at))
  }

  const leave = (name: (typeof rivals)[number]) => {
    const gone = present.get(name)
    present.delete(name)
    // libuv unlinks the name that was bound, whoever's it is by now.
    gone?.server.close()
    if (gone !== undefined && name === "renaming" && whatIsAt(contested)?.identity === gone.identity) {
      fs.unlinkSync(contested)
    }
  }

  const come = (name: (typeof rivals)[number]) => {
    if (whatIsAt(contested)?.isSocket === false) return
    leave(name)
    const server = http2.createServer()
    if (name === "byName") {
      fs.rmSync(contested, { force: true })
      present.set(name, { server, identity: listening(server, contested) })
    } else {
      const aside = path.join(root, `rival-${bound++}`)
      present.set(name, { server, identity: listening(server, aside) })
      fs.renameSync(aside, contested)
    }
  }

  const leaveDead = () => {
    if (whatIsAt(contested)?.isSocket === false) return
    const aside = path.join(root, `dead-${bound++}`)
    const server = net.createServer()
    listening(server, aside)
    fs.renameSync(aside, contested)
    server.close()
  }

  const others = (move: OtherMove) => {
    switch (move.does) {
      case "come":
        return come(move.rival)
      case "leave":
        return leave(move.rival)
      case "unlink":
        return fs.rmSync(contested, { force: true })
      case "leaveDead":
        return move.rare === 0 ? leaveDead() : undefined
      case "leaveFile":
        fs.rmSync(contested, { force: true })
        return fs.writeFileSync(contested, "")
    }
  }

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const name of registrars) world[name].held.letGo()
      for (const name of rivals) leave(name)
    })
  )

  /** Whoever is alive, and is not that registrar. */
  const othersAlive = (name: OurMove["who"]) =>
    new Set(
      [world.A, world.B]
        .filter((registrar) => registrar !== world[name])
        .map(({ own }) => own())
        .concat([...present.values()].map(({ identity }) => identity))
    )

  return { folder, known, paths, contested, world, others, othersAlive }
})

type World = Effect.Success<typeof makeWorld>

/** What one of ours does, and whether it says the truth about it when nobody interferes. */
const act = Effect.fnUntraced(function* ({ world, known, paths }: World, move: OurMove) {
  const { held, own, mine } = world[move.who]
  if (move.does === "letGo") {
    assert.isUndefined(held.letGo())
    return "letGo"
  }
  if (move.does === "inspect") return (yield* held.inspect(known))?.type ?? "nothing"
  const placed = yield* Effect.match(held.place({ driverName: names[move.name], takeOver: move.takeOver }), {
    onSuccess: ({ path: at }) => {
      assert.strictEqual(at, paths[move.name])
      return "placed"
    },
    onFailure: ({ _tag }) => _tag
  })
  const identity = own()
  if (identity !== undefined) mine.add(identity)
  return placed
})

/** What the end of a move says about whose socket is in place. */
const isTruthful = Effect.fnUntraced(function* ({ world }: World, { who, does }: OurMove, outcome: string) {
  const { held, own, accepted } = world[who]
  const socket = held.own()
  assert.isFalse(socket !== undefined && held.isDisplaced(), "holds and is displaced")
  if (outcome === "placed") assert.isDefined(socket)
  const displaced = outcome === "DisplacedError" || outcome === "socket.displaced"
  if (does === "letGo" || displaced || outcome.startsWith("socket.")) assert.isUndefined(socket)
  if (displaced) assert.isTrue(held.isDisplaced())
  // One that could not be replaced stays, and nobody has looked whether it still does.
  if (socket === undefined || outcome === "SocketUnavailableError") return
  assert.strictEqual(whatIsAt(socket.path)?.identity, own())
  const before = accepted()
  assert.isTrue(yield* reaches(socket.path))
  // The connection is there before its server has heard of it.
  while (accepted() === before) yield* Effect.yieldNow
})

const alone = Effect.fnUntraced(function* (place: World, move: OurMove) {
  const before = place.paths.map(whatIsAt)
  const others = place.othersAlive(move.who)
  const outcome = yield* act(place, move)
  place.paths.forEach((at, index) => {
    const found = before[index]
    if (found === undefined) return
    const mayTakeOver = move.does === "announce" && move.takeOver && move.name === index
    const stays = !found.isSocket || (others.has(found.identity) && !mayTakeOver)
    if (stays) assert.deepStrictEqual(whatIsAt(at), found, `${JSON.stringify(move)} removed what was not its own`)
  })
  yield* isTruthful(place, move, outcome)
})

/** Of what came in the middle only what is certain: a live rival that was there when the other one began to look, is there. */
const clash = Effect.fnUntraced(function* (place: World, { first, second, afterMs }: typeof Clash.Type) {
  let left: ReturnType<typeof whatIsAt>
  const meanwhile = Effect.sync(() => {
    place.others(second)
    left = whatIsAt(place.contested)
  })
  yield* Effect.all([act(place, first), Effect.delay(meanwhile, afterMs)], { concurrency: 2 })
  if (left === undefined) return
  const mayTakeOver = first.does === "announce" && first.takeOver
  if (!left.isSocket || (place.othersAlive(first.who).has(left.identity) && !mayTakeOver)) {
    assert.deepStrictEqual(whatIsAt(place.contested), left, `${JSON.stringify(first)} removed what came meanwhile`)
  }
})

const race = (place: World, { first, second, afterMs }: typeof Race.Type) =>
  first.who === second.who
    ? Effect.void
    : Effect.all([act(place, first), Effect.delay(act(place, second), afterMs)], { concurrency: 2 })

const step = (place: World, move: typeof Move.Type): Effect.Effect<unknown> => {
  switch (move.does) {
    case "announce":
    case "inspect":
    case "letGo":
      return alone(place, move)
    case "clash":
      return clash(place, move)
    case "race":
      return race(place, move)
    default:
      return Effect.sync(() => place.others(move))
  }
}

const socketsOf = ({ folder, world }: World, name: OurMove["who"]) =>
  fs.readdirSync(folder).filter((entry) => {
    const found = whatIsAt(path.join(folder, entry))
    return found !== undefined && world[name].mine.has(found.identity)
  })

const dotNames = ({ folder }: World) => fs.readdirSync(folder).filter((entry) => entry.startsWith("."))

describe("a socket that is held in a contested folder", () => {
  it.live.prop(
    "is put and removed without harm to anybody else",
    { moves: Moves },
    ({ moves }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const place = yield* makeWorld
          for (const move of moves) {
            yield* step(place, move)
            for (const name of registrars) assert.isAtMost(socketsOf(place, name).length, 1, `sockets of ${name}`)
            assert.deepStrictEqual(dotNames(place), [])
          }
          for (const who of registrars) yield* alone(place, { does: "letGo", who })
          for (const name of registrars) assert.deepStrictEqual(socketsOf(place, name), [], `left by ${name}`)
        })
      ),
    { timeout: 20_000, arbitrary: { runs } }
  )
})
