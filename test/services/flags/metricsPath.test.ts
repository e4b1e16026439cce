/** Claim: --metrics-path takes every path that a request can reach, and refuses with its reason what is none, what is no clean one, and what is another endpoint's. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import fc from "fast-check"

import { metricsPathFault } from "../../../src/services/flags/metricsPath.ts"
import { destination, parseTarget } from "../../../src/services/http/goMux.ts"
import { inspectorRoutes } from "../../../src/services/http/inspectorRoutes.ts"
import { makeRoutes } from "../../../src/services/http/routes.ts"
import { Klog } from "../../../src/services/Klog.ts"
import { Status } from "../../../src/services/Status.ts"
import { makeFakeRegistrationServer } from "../../fakes/FakeRegistrationServer.ts"
import { makeGate } from "../../fakes/Gate.ts"
import { makeFakeLog } from "../../fakes/World.ts"

const slash = "must begin with a slash, such as /metrics"
const plain = "must be a path as in a URL, such as /metrics, without escapes and query"
const clean = "must be a path without //, /. and /.., such as /metrics"
const taken = "is the path of another endpoint; choose one such as /metrics"

describe("metricsPathFault", () => {
  it.each([
    ["/metrics", undefined],
    ["/", undefined],
    ["/a/b-c_d.e~f", undefined],
    ["/metrics/", undefined],
    ["/debug/metrics", undefined],
    ["/debug/pprofs", undefined],
    ["/.metrics", undefined],
    ["", slash],
    ["metrics", slash],
    ["http://x/metrics", slash],
    [" /metrics", slash],
    ["/metrics?x", plain],
    ["/metrics#x", plain],
    ["/%6detrics", plain],
    ["/a b", plain],
    ["/a\n", plain],
    ["/é", plain],
    ["//metrics", clean],
    ["/a/../b", clean],
    ["/a/.", clean],
    ["/..", clean],
    [`/${"a".repeat(256)}`, "must have at most 256 characters"],
    ["/debug/pprof", taken],
    ["/debug/pprof/heap", taken],
    ["/debug/machine", taken]
  ])("of %j is %j", (path, fault) => assert.equal(metricsPathFault(path), fault))

  it.effect("refuses the path of every other route", () =>
    Effect.gen(function* () {
      for (const path of [...(yield* makeRoutes).keys(), ...(yield* inspectorRoutes).keys()]) {
        assert.equal(metricsPathFault(path), taken)
      }
    }).pipe(
      Effect.provide(
        Layer.mergeAll(Klog.layer(makeFakeLog().log), makeFakeRegistrationServer(makeGate()).layer, Status.layer())
      )
    )
  )

  it("takes nothing that a request would miss", () => {
    const piece = fc.constantFrom("/", ".", "..", "a", "metrics", "%2f", "?", ";", "@", "~", "é", "#", "*")
    const path = fc.oneof(
      fc.array(piece, { maxLength: 8 }).map((parts) => `/${parts.join("")}`),
      fc.string()
    )
    fc.assert(
      fc.property(path, (path) => {
        if (metricsPathFault(path) !== undefined) return
        const target = parseTarget("GET", path)
        assert.isDefined(target)
        assert.deepEqual(destination("GET", target!, new Set([path])), { kind: "route", path })
      })
    )
  })
})
