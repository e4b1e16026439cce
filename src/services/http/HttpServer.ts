/**
 * The HTTP endpoint. It answers from the first moment, before there is a registration socket, and binds its address before anything is announced.
 * Paths and methods are as in Go (goMux.ts), status, headers and body too (answer.ts); routes.ts says what there is.
 *
 * node:http reads and decides what is a request. Unlike Go's server it answers HTTP/1.0 with a line of HTTP/1.1; ends the connection after CONNECT and
 * methods that it does not know (whose headers do not count); reads any body to its end; drops what came in one packet with an upgrade; cuts off a head
 * after a minute; and refuses bare line feeds, folded headers, HTTP/1.2, heads over 16 KiB or 1,000 headers, and paths that are
 * no ASCII.
 */
import * as http from "node:http"
import type { Socket } from "node:net"

import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

import { Klog } from "../Klog.ts"
import * as lines from "../log/catalogue.ts"
import type { RegistrationServer } from "../registration/RegistrationServer.ts"
import type { Status } from "../Status.ts"
import {
  type Answer,
  asterisk,
  expectationFailed,
  notFound,
  options,
  redirect,
  type Refusal,
  refuse,
  send
} from "./answer.ts"
import { destination } from "./goMux.ts"
import { LastAnswers } from "./LastAnswers.ts"
import { type HttpAddressError, listen } from "./listen.ts"
import { isRefusal, type ParseError, readRequest, readUnparsed, type Request } from "./request.ts"
import { type Feature, makeRoutes, text } from "./routes.ts"

const serverOptions = {
  /** Its absence is answered in Go's words. */
  requireHostHeader: false,
  noDelay: true,
  /** Peers that have vanished without a word are noticed by the kernel, as in Go. */
  keepAlive: true,
  keepAliveInitialDelay: 15_000,
  /** A connection between two requests stays, as in Go: closed by us, it could be just when the next one is sent. */
  keepAliveTimeout: 0,
  /** How long a head and a whole request may take, and how long a head may be: node's own limits. Go's MiB would be memory that strangers hold. */
  headersTimeout: 60_000,
  requestTimeout: 300_000,
  maxHeaderSize: 16 * 1024
}

const faulty = text(500, "500 Internal Server Error\n")

type Handle = (request: Request, response: http.ServerResponse) => void

const make = <R>(endpoint: string, features: ReadonlyArray<Feature<R>>) =>
  Effect.gen(function* () {
    const log = yield* Klog
    if (endpoint === "") return log.write(lines.skippingHttp)
    log.write(lines.startingHttp, { endpoint })
    const routes = new Map((yield* Effect.all([makeRoutes, ...features])).flatMap((some) => [...some]))
    const requests = yield* FiberSet.make<unknown, unknown>()
    const fork = yield* FiberSet.runtime(requests)()

    const answerTo = (request: Request, connection: Socket): Effect.Effect<Answer> => {
      const to = destination(request.method, request.target, routes)
      switch (to.kind) {
        case "route":
          return routes.get(to.path)?.(request, connection) ?? Effect.succeed(notFound)
        case "redirect":
          return Effect.succeed(redirect(request.method, to.location))
        case "options":
          return Effect.succeed(options)
        case "asterisk":
          return Effect.succeed(asterisk)
        case "notFound":
          return Effect.succeed(notFound)
      }
    }

    const server = yield* serving((request, response) => {
      const answered = Effect.map(
        Effect.suspend(() => answerTo(request, response.req.socket)),
        (answer) => send(response, answer)
      )
      // A fault of a route is the asker's to see, and no reason to end a registration.
      const told = Effect.sync(() => (response.headersSent ? response.destroy() : send(response, faulty)))
      fork(Effect.catchCause(answered, () => told))
    })
    yield* listen(server, endpoint)
  })

/** A server that ends with the scope, and all connections with it. */
const serving = (handle: Handle) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const lastAnswers = new LastAnswers()
        return { server: makeServer(handle, lastAnswers), lastAnswers }
      }),
      ({ server, lastAnswers }) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
          lastAnswers.destroyAll()
        })
    ),
    ({ server }) => server
  )

const makeServer = (handle: Handle, lastAnswers: LastAnswers): http.Server => {
  const reply = (read: Request | Refusal, response: http.ServerResponse) =>
    isRefusal(read) ? refuse(response, read) : handle(read, response)

  const server = http.createServer(serverOptions, (incoming, response) => {
    lastAnswers.follow(incoming, response)
    incoming.resume()
    reply(readRequest(incoming), response)
  })
  // What a peer has asked before it closed its side is answered; without this, node closes ours at once.
  Object.assign(server, { httpAllowHalfOpen: true })

  server.on("checkContinue", (incoming, response) => {
    // We ask for no body. Whether it comes is not known, so nothing can follow it.
    const { "content-length": length = "0", "transfer-encoding": coding } = incoming.headers
    if (Number(length) > 0 || coding !== undefined) response.shouldKeepAlive = false
    server.emit("request", incoming, response)
  })
  server.on("checkExpectation", (incoming, response) => {
    lastAnswers.follow(incoming, response)
    incoming.resume()
    send(response, expectationFailed)
  })
  server.on("connect", (incoming) => {
    lastAnswers.answer(incoming, (response) => {
      if (/\bclose\b/i.test(incoming.headers.connection ?? "")) response.shouldKeepAlive = false
      reply(readRequest(incoming), response)
    })
  })
  server.on("clientError", (error: ParseError, socket) => {
    const read = readUnparsed(error)
    const incoming = new http.IncomingMessage(socket as Socket)
    Object.assign(incoming, {
      method: isRefusal(read) ? "GET" : read.method,
      httpVersion: "1.1",
      httpVersionMajor: 1,
      httpVersionMinor: 1
    })
    lastAnswers.answer(incoming, (response) => reply(read, response))
  })
  return server
}

/** Listens at `endpoint`, an address in Go's form; does nothing when it is empty. `features` are those that are on, beside the routes of routes.ts. */
export const layer = <R = never>(
  endpoint: string,
  features: ReadonlyArray<Feature<R>> = []
): Layer.Layer<never, HttpAddressError, Exclude<R, Scope.Scope> | Klog | RegistrationServer | Status> =>
  Layer.effectDiscard(make(endpoint, features))
