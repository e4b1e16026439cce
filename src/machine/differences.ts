/** Where the registrar behaves otherwise than upstream's v2.17, and by which flag it does as upstream does: the README's table, with the numbers of policies.ts. */
import { defaults, dialRestMs, healRestMs, limits, refusalRestMs } from "./policies.ts"

export interface Difference {
  readonly situation: string
  readonly upstream: string
  readonly ours: string
  /** Empty where there is none. */
  readonly flag: string
}

const span = (ms: number) => (ms >= 60_000 ? `${ms / 60_000} min` : `${ms / 1_000} s`)
const late = 1_000

export const differences: ReadonlyArray<Difference> = [
  {
    situation: "the driver's socket is not there yet",
    upstream: "silent; exit 1 after 30 s",
    ours: `seen the moment it appears, the cause is logged when it changes; exit 1 after ${span(defaults.connectTimeoutMs)}`,
    flag: "`--csi-connect-timeout` (`30s` as upstream, `0` never)"
  },
  {
    situation: "GetPluginInfo is slow or fails",
    upstream: "one try, exit 1",
    ours: `tried again within the same limit, ${span(dialRestMs(1))} doubling to ${span(dialRestMs(late))} apart; Unimplemented and illegal names exit 1 at once`,
    flag: "same"
  },
  {
    situation: "the driver's name is no CSI name",
    upstream: "becomes a file name; `../x` leaves the folder",
    ours: "exit 1, one line says the rule",
    flag: ""
  },
  {
    situation: "the kubelet refuses",
    upstream: "exit 1 at once, no reply, socket left behind",
    ours: `answered, logged, announced again after ${span(refusalRestMs(1, 0))} doubling to ${span(refusalRestMs(late, 0))} (± 20 %); exit 1 after ${defaults.registrationAttempts} refusals in a row`,
    flag: "`--registration-attempts` (`1` as upstream, `0` no limit)"
  },
  {
    situation: "the driver goes away later",
    upstream: "nothing",
    ours: "one line; looked for without limit; a driver back under another name is announced",
    flag: "`--reannounce-on-driver-restart`"
  },
  {
    situation: "our socket is removed by others",
    upstream: "nothing, the driver stays unregistered",
    ours: `put back at once; repeated losses after ${span(healRestMs(2))} doubling to ${span(healRestMs(late))}, forgotten after ${span(limits.quietMs)} of quiet`,
    flag: ""
  },
  {
    situation: "the kubelet does not call, or does not decide",
    upstream: "silence",
    ours: "a line after 10 s, 30 s, 1, 2 and 5 min, then every 10 min, with the folder that the registration folder really is; never exits",
    flag: ""
  },
  {
    situation: "another live registrar of the same driver",
    upstream: "newest wins; stopping the old one deletes the new one's socket",
    ours: "newest wins; nobody touches another's live socket; the displaced one is healthy, not ready, and announces again when the other leaves, dies or hangs",
    flag: ""
  },
  {
    situation: "the kubelet's verdict has a text of more than 16 KiB",
    upstream: "whole, in log and exit",
    ours: "its first 16 KiB; one line of 1,000 characters at most in `/readyz` and probes",
    flag: ""
  },
  {
    situation: "SIGINT, SIGHUP",
    upstream: "dies, the socket stays; ignored when they were at the start (`nohup`)",
    ours: "as SIGTERM: socket removed, exit 0",
    flag: ""
  },
  {
    situation: "SIGTERM before the socket is in place",
    upstream: "killed by the signal (143), or exit 2 as PID 1",
    ours: "exit 0",
    flag: ""
  },
  {
    situation: "SIGQUIT",
    upstream: "dump of goroutines, exit 2, the socket stays",
    ours: "dump of the state and the last transitions, exit 2, socket removed",
    flag: ""
  },
  {
    situation: "the HTTP address cannot be listened on",
    upstream: "exit 1 after the socket was announced, which stays",
    ours: "found before anything is announced; exit 1, nothing left",
    flag: ""
  },
  {
    situation: "HTTP before the driver is known",
    upstream: "port closed",
    ours: "open: `/healthz` 503 with the reason, `/livez` 200, `/readyz` 503",
    flag: ""
  },
  {
    situation: "`--mode=kubelet-registration-probe`",
    upstream: "exit 0, nothing is asked (v2.9 on)",
    ours: "asks the registrar beside it: is it alive, or has the kubelet registered it",
    flag: "`--probe`"
  },
  {
    situation: "`--mode=diagnose`",
    upstream: "registers, as in any mode that it does not know",
    ours: "prints why the driver is not registered, and exits",
    flag: ""
  },
  {
    situation: "`--enable-pprof`",
    upstream: "all profiles of a Go program",
    ours: "`profile` (1 to 300 s, anything else is 400) and `heap`, of V8, in the same format; GET and HEAD only",
    flag: ""
  },
  {
    situation: "`--csi-address` is no unix socket (`host:port`, `dns:///`, `unix-abstract:`)",
    upstream: "dialled over TCP, or as an abstract socket",
    ours: "exit 1, one line",
    flag: ""
  },
  {
    situation: "`--log-*-split-stream`, `--log-*-info-buffer-size`",
    upstream: "exit 1 for want of a feature gate",
    ours: "usable",
    flag: ""
  },
  {
    situation: "klog flags of v2.0 – v2.10",
    upstream: "exit 2 since v2.11",
    ours: "accepted, one line names them",
    flag: ""
  }
]

/** The table in Markdown. */
export const differencesTable = (): string =>
  [
    "| situation | upstream v2.17 | this registrar | flag |",
    "| --- | --- | --- | --- |",
    ...differences.map(({ situation, upstream, ours, flag }) => `| ${situation} | ${upstream} | ${ours} | ${flag} |`)
  ].join("\n")
