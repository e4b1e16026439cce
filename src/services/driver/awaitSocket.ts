/**
 * Waits for a socket at a path, and for somebody to listen there. A socket that appears is seen through inotify on the nearest folder that exists; the slow poll
 * is for what inotify does not tell (a socket that begins to listen, a right that is granted) and for hosts that have no watch left.
 */
import * as fs from "node:fs"
import * as path from "node:path"

import * as Effect from "effect/Effect"

import type { Failure } from "../../machine/context.ts"
import { codeOf } from "../codeOf.ts"
import { knock } from "../unixSocket.ts"

/** A change that raises no event is seen within this time. */
const pollMs = 1_000
/** While a socket refuses: bound, and not listening yet. No event tells when that ends, and drivers start late by milliseconds. */
const refusedPollMs = 20
/** Between bind and listen every socket refuses for a moment; that is no news. */
const refusedNewsMs = 200
/** A refusing socket is most likely left over, the longer it refuses, and looked at less often. */
const refusedRestMs = (refusedForMs: number) => {
  if (refusedForMs < 1_000) return refusedPollMs
  if (refusedForMs < 60_000) return 80
  return 1_000
}
/** Without inotify (no watches left on this host, or no right to read the folder). */
const unwatchedPollMs = 100

const obstacle = (cause: string, advice: string): Failure => ({ step: "connecting", cause, advice })

const permissionDenied = (socketPath: string) =>
  obstacle(
    `connect to ${socketPath}: permission denied for uid ${process.getuid?.()}`,
    "run as the driver's user or as root; with SELinux enforcing, both containers need the same label or privileged: true"
  )

const nobodyListens = (socketPath: string) =>
  obstacle(
    `connect to ${socketPath}: connection refused, nobody listens`,
    "the socket is left over or its driver is not ready; look at the driver's container"
  )

const hangs = (socketPath: string) =>
  obstacle(
    `connect to ${socketPath}: its queue is full, nobody accepts`,
    "the driver hangs; look at the driver's container"
  )

const odd = (socketPath: string, code: string) =>
  obstacle(
    `connect to ${socketPath}: ${code}`,
    "it must be a stream socket that the driver serves, and this process needs a free descriptor"
  )

/** What lies at the path, if it is no socket. */
const look = (socketPath: string): Failure | undefined => {
  try {
    const stats = fs.statSync(socketPath)
    if (stats.isSocket()) return undefined
    return obstacle(`${socketPath} is not a socket`, "let --csi-address name the socket that the driver listens on")
  } catch (error) {
    switch (codeOf(error)) {
      case "ENOENT":
        return obstacle(
          `${socketPath} does not exist`,
          "check that the driver runs, listens there, and shares the folder's mount with this container"
        )
      case "EACCES":
        return permissionDenied(socketPath)
      default:
        return obstacle(`stat ${socketPath}: ${codeOf(error)}`, "check the path in --csi-address")
    }
  }
}

const nearestFolder = (target: string): string => {
  const parent = path.dirname(target)
  if (parent === target) return parent
  try {
    if (fs.statSync(parent).isDirectory()) return parent
  } catch {}
  return nearestFolder(parent)
}

/** Calls back once something changes in `folder`; undefined when no watch can be had. */
const watchOnce = (folder: string, changed: () => void): fs.FSWatcher | undefined => {
  try {
    const watcher = fs.watch(folder, { persistent: false }, changed)
    watcher.on("error", changed)
    return watcher
  } catch {
    return undefined
  }
}

/** Until something may have changed on the way to the path; the look after the watch is armed closes the gap before it. */
const change = (socketPath: string): Effect.Effect<void> =>
  Effect.callback<"changed" | "unwatched">((resume) => {
    let done = false
    const finish = () => {
      if (done) return
      done = true
      watcher?.close()
      resume(Effect.succeed("changed"))
    }
    const folder = nearestFolder(socketPath)
    const watcher = watchOnce(folder, finish)
    if (watcher === undefined) resume(Effect.succeed("unwatched"))
    else if (look(socketPath) === undefined || nearestFolder(socketPath) !== folder) finish()
    return Effect.sync(() => watcher?.close())
  }).pipe(
    Effect.timeoutOption(pollMs),
    Effect.flatMap((end) =>
      end._tag === "Some" && end.value === "unwatched" ? Effect.sleep(unwatchedPollMs) : Effect.void
    )
  )

/** Ends when there is a socket at the path. `onObstacle` hears what lies there instead, each time it looks. */
export const awaitSocket = (socketPath: string, onObstacle: (obstacle: Failure) => void): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let found = look(socketPath); found !== undefined; found = look(socketPath)) {
      onObstacle(found)
      yield* change(socketPath)
      if (look(socketPath) !== undefined) yield* Effect.sleep(1)
    }
  })

/**
 * Ends when somebody listens at the path, after a connection to it has failed: true when somebody did all along, so that the fault was another one.
 */
export const awaitListener = (socketPath: string, onObstacle: (obstacle: Failure) => void): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    for (let refusedForMs = 0, first = true; ; first = false) {
      yield* awaitSocket(socketPath, onObstacle)
      const answer = yield* knock(socketPath)
      if (answer === "listening") return first
      if (answer === "gone") continue
      if (answer === "refused") {
        if (refusedForMs >= refusedNewsMs) onObstacle(nobodyListens(socketPath))
        const restMs = refusedRestMs(refusedForMs)
        refusedForMs += restMs
        yield* Effect.sleep(restMs)
      } else {
        onObstacle(
          answer === "denied"
            ? permissionDenied(socketPath)
            : answer === "busy"
              ? hangs(socketPath)
              : odd(socketPath, answer.unknown)
        )
        yield* Effect.sleep(pollMs)
      }
    }
  })
