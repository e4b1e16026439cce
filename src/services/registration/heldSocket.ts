/**
 * The one socket that a registrar holds in its folder, through all its replacements: put there, looked after, let go. It knows three conditions: none
 * in place, one of ours in place, and displaced by a live rival, whose going it then looks for.
 */
import * as fs from "node:fs"
import * as net from "node:net"

import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

import type { Failure } from "../../machine/context.ts"
import type { SocketEvent } from "../../machine/events.ts"
import type { Announcement } from "../../machine/registrar.ts"
import { codeOf } from "../codeOf.ts"
import * as lines from "../log/catalogue.ts"
import type { Log } from "../log/Log.ts"
import { knock, reasonOf } from "../unixSocket.ts"
import type { Bound, Identity, OwnSocket } from "./RegistrationSocket.ts"
import {
  bind,
  bindFault,
  isAbandoned,
  isDead,
  isSame,
  look,
  placeFault,
  removeIfSame,
  socketPathOf
} from "./RegistrationSocket.ts"

/** A live registrar holds the socket. */
export class DisplacedError extends Data.TaggedError("DisplacedError")<{ readonly path: string }> {
  override get message() {
    return `another registrar serves ${this.path}`
  }
}

/** The socket cannot be put in place, and no retry would change that. */
export class SocketUnavailableError extends Data.TaggedError("SocketUnavailableError")<{ readonly failure: Failure }> {
  override get message() {
    return this.failure.cause
  }
}

/** The socket cannot be put in place now, for want of something that may be there again in a while. */
export class SocketBlockedError extends Data.TaggedError("SocketBlockedError")<{ readonly obstacle: Failure }> {
  override get message() {
    return this.obstacle.cause
  }
}

/** Somebody has removed our dot-name before it was renamed: another one serves as well. */
class DotNameLostError extends Data.TaggedError("DotNameLostError") {}

export interface Placement {
  readonly path: string
  /** Whether a live registrar held the place. */
  readonly tookOver: boolean
}

export interface HeldSocket {
  readonly own: () => OwnSocket | undefined
  readonly isDisplaced: () => boolean
  /** Puts a new socket in place of whatever this one held before. Fails with nothing left of the attempt. */
  readonly place: (
    announcement: Announcement
  ) => Effect.Effect<Placement, DisplacedError | SocketBlockedError | SocketUnavailableError>
  /** What has become of the socket since the last look; undefined when nothing has. The folder is compared with `known`, as it was at first. */
  readonly inspect: (known: fs.Stats) => Effect.Effect<SocketEvent | undefined>
  /** Removes the socket if it is still ours, and stops listening. What could not be removed is told. */
  readonly letGo: () => Failure | undefined
}

type Hold =
  | { readonly phase: "none" }
  | { readonly phase: "holding"; readonly own: OwnSocket }
  | { readonly phase: "displaced"; readonly path: string }

/** The kubelet stats every new name before it ignores a dot-name; one that is gone by then makes an error line in its log. */
const kubeletLookMs = 2

/** A registrar that starts removes dot-names that nobody serves, and may find ours before it does. */
const dotNamesToTry = 3

const unavailable = (failure: Failure) => new SocketUnavailableError({ failure })

/** What a host runs out of, and has again. */
const passing = new Set(["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM", "EIO", "ESTALE", "EAGAIN", "EINTR"])

const placingFault = (folder: string, socketPath: string, error: unknown) => {
  const fault = bindFault(folder, socketPath, error)
  return passing.has(codeOf(error)) ? new SocketBlockedError({ obstacle: fault }) : unavailable(fault)
}

/** False when something is there already: link never replaces. */
const linkOrExists = (existing: string, wanted: string): boolean => {
  try {
    fs.linkSync(existing, wanted)
    return true
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false
    throw error
  }
}

const putInPlace = Effect.fnUntraced(function* (
  folder: string,
  socketPath: string,
  bound: Bound,
  takeOver: boolean,
  abandoned: Identity | undefined
) {
  while (true) {
    const fault = placeFault(folder, socketPath)
    if (fault !== undefined) return yield* unavailable(fault)
    if (look(bound.path).kind === "nothing") return yield* new DotNameLostError()
    if (takeOver) return fs.renameSync(bound.path, socketPath)
    if (linkOrExists(bound.path, socketPath)) return fs.unlinkSync(bound.path)
    const found = look(socketPath)
    if (found.kind !== "socket") continue
    const known = abandoned !== undefined && isSame(found, abandoned)
    if (known || (yield* isAbandoned(socketPath))) removeIfSame(socketPath, found)
    else if (look(socketPath).kind === "socket") return yield* new DisplacedError({ path: socketPath })
  }
})

const folderFault = (folder: string, known: fs.Stats): Failure | undefined => {
  let stats: fs.Stats | undefined
  try {
    stats = fs.statSync(folder, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
  if (stats !== undefined && stats.nlink > 0 && stats.ino === known.ino && stats.dev === known.dev) return undefined
  return {
    step: "announcing",
    cause: `${folder} was deleted under its mount`,
    advice: "only a restart of the container mounts it again; the kubelet may need one too"
  }
}

export const makeHeldSocket = (options: {
  readonly folder: string
  readonly accept: (socket: net.Socket) => void
  readonly log: Log
}): HeldSocket => {
  const { folder, accept, log } = options
  let hold: Hold = { phase: "none" }
  /** A rival's socket that was found dead, or hanging, and is still in the place. */
  let abandoned: Identity | undefined

  const letGo = (): Failure | undefined => {
    const before = hold
    hold = { phase: "none" }
    if (before.phase !== "holding") return undefined
    const { path, listener } = before.own
    try {
      removeIfSame(path, before.own)
      return undefined
    } catch (error) {
      const advice = "remove it by hand, or the kubelet will call in vain"
      return { step: "removing", cause: `remove ${path}: ${reasonOf(error)}`, advice, facts: { socket: path } }
    } finally {
      listener.close()
    }
  }

  const listenAt = Effect.fnUntraced(function* (socketPath: string, takeOver: boolean, listener: net.Server) {
    const bound = yield* bind(folder, listener)
    yield* Effect.sleep(kubeletLookMs)
    yield* putInPlace(folder, socketPath, bound, takeOver, abandoned)
    listener.on("error", () => {})
    hold = { phase: "holding", own: { ...bound, path: socketPath, listener } }
  })

  /** One listener, closed again should it not get in place. */
  const attempt = (socketPath: string, takeOver: boolean) =>
    Effect.suspend(() => {
      const listener = net.createServer(accept)
      return Effect.onExit(listenAt(socketPath, takeOver, listener), (exit) =>
        Effect.sync(() => exit._tag === "Failure" && listener.close())
      )
    })

  const place = ({ driverName, takeOver }: Announcement) => {
    const socketPath = socketPathOf(folder, driverName)
    return Effect.gen(function* () {
      const fault = placeFault(folder, socketPath)
      if (fault !== undefined) return yield* unavailable(fault)
      log.write(lines.startingServer, { socketPath })
      const stranded = letGo()
      if (stranded !== undefined) return yield* unavailable(stranded)
      const tookOver = look(socketPath).kind === "socket" && (yield* knock(socketPath)) === "listening"
      yield* Effect.retry(attempt(socketPath, takeOver), {
        times: dotNamesToTry,
        while: (error) => "_tag" in error && error._tag === "DotNameLostError"
      })
      log.write(lines.serverStarted, { socketPath })
      return { path: socketPath, tookOver }
    }).pipe(
      Effect.catchDefect((error) => Effect.fail(error as NodeJS.ErrnoException)),
      Effect.mapError((error) =>
        error instanceof DisplacedError || error instanceof SocketUnavailableError
          ? error
          : placingFault(folder, socketPath, error)
      ),
      Effect.tapError((error) =>
        Effect.sync(() => {
          if (error._tag === "DisplacedError") hold = { phase: "displaced", path: socketPath }
        })
      )
    )
  }

  const inspect = Effect.fnUntraced(function* (known: fs.Stats): Effect.fn.Return<SocketEvent | undefined> {
    const seen = hold
    if (seen.phase === "none") return undefined
    const failure = folderFault(folder, known)
    if (failure !== undefined) {
      letGo()
      return { type: "socket.failed", failure }
    }
    const socketPath = seen.phase === "holding" ? seen.own.path : seen.path
    const found = look(socketPath)
    if (seen.phase === "holding" && isSame(found, seen.own)) return undefined
    const isVacant = seen.phase === "displaced" ? isAbandoned(socketPath) : isDead(socketPath)
    const vacant = found.kind !== "socket" || (yield* isVacant) || look(socketPath).kind !== "socket"
    if (hold !== seen) return undefined
    if (seen.phase === "displaced") {
      if (!vacant) return undefined
      abandoned = found.kind === "socket" ? found : undefined
      hold = { phase: "none" }
      return { type: "socket.vacated" }
    }
    letGo()
    if (vacant) return { type: "socket.removed" }
    hold = { phase: "displaced", path: socketPath }
    return { type: "socket.displaced" }
  })

  return {
    own: () => (hold.phase === "holding" ? hold.own : undefined),
    isDisplaced: () => hold.phase === "displaced",
    place,
    inspect,
    letGo
  }
}
