// What the bundle leaves out of @grpc/grpc-js 1.14, or loads later: parts that only a program with other needs can reach. Everything a
// driver's address can ask for stays: dns and ip targets, proxies, round_robin, compression, retries.
import type { Plugin } from "rolldown"

/** The end of a file's path, and what stands in for it. */
const stubs: Record<string, string> = {
  // A debugging service that we do not serve, and a requirer of proto-loader. Its counters run all the same unless each server and channel
  // is told not to.
  "@grpc/grpc-js/build/src/channelz.js": `
    class Trace { addTrace() {} }
    class ChildrenTracker { refChild() {} unrefChild() {} getChildLists() { return { channels: [], subchannels: [], sockets: [] } } }
    class CallTracker { addCallStarted() {} addCallSucceeded() {} addCallFailed() {} }
    let id = 0
    const register = (name) => ({ id: ++id, name })
    Object.assign(exports, {
      ChannelzTrace: Trace, ChannelzTraceStub: Trace,
      ChannelzChildrenTracker: ChildrenTracker, ChannelzChildrenTrackerStub: ChildrenTracker,
      ChannelzCallTracker: CallTracker, ChannelzCallTrackerStub: CallTracker,
      registerChannelzChannel: register, registerChannelzSubchannel: register,
      registerChannelzServer: register, registerChannelzSocket: register,
      unregisterChannelzRef() {}, setup() {}
    })`,

  // Load reports to a balancer (ORCA; the other requirer of proto-loader), the policies that live on them and on xDS, and the channel within a subchannel that they use.
  // No service config that grpc-go's registrar would understand names these policies.
  "@grpc/grpc-js/build/src/orca.js": `
    exports.PerRequestMetricRecorder = class {}
    exports.ServerMetricRecorder = class {}
    exports.GRPC_METRICS_HEADER = "endpoint-load-metrics-bin"`,
  "@grpc/grpc-js/build/src/load-balancer-weighted-round-robin.js": "exports.setup = () => {}",
  "@grpc/grpc-js/build/src/load-balancer-outlier-detection.js": "exports.setup = () => {}",
  "@grpc/grpc-js/build/src/single-subchannel-channel.js": "exports.SingleSubchannelChannel = class {}",

  // The interface for plug-ins such as xDS; with it go certificates from watched files.
  "@grpc/grpc-js/build/src/experimental.js": ""
}

/** Modules of node that grpc-js requires at its top and uses when a message is compressed, or a name is looked up. */
const lateBuiltins = new Set(["zlib", "dns"])
const latePrefix = "\0late-builtin:"

/** Fails the build when a version of grpc-js has no such file any more: then this list wants a new look. */
export const grpcStubs: Plugin = {
  name: "grpc-stubs",
  resolveId(id, importer) {
    return lateBuiltins.has(id) && importer?.includes("/@grpc/grpc-js/") ? { id: latePrefix + id } : null
  },
  load(id) {
    if (id.startsWith(latePrefix)) {
      const builtin = JSON.stringify(id.slice(latePrefix.length))
      return `module.exports = new Proxy({}, { get: (_, name) => require(${builtin})[name] })`
    }
    return stubs[nameOf(id)] ?? null
  },
  buildEnd() {
    const names = new Set(Array.from(this.getModuleIds(), nameOf))
    const missing = Object.keys(stubs).filter((name) => !names.has(name))
    if (names.has("@grpc/grpc-js/build/src/index.js") && missing.length > 0) {
      this.error(`scripts/grpcStubs.ts replaces files that grpc-js does not load: ${missing.join(", ")}`)
    }
  }
}

function nameOf(id: string): string {
  return id.slice(id.lastIndexOf("/@grpc/") + 1)
}
