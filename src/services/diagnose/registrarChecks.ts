/** What the registrar beside us knows: whether it runs, and what the kubelet has said to it. Pure. */
import { adviceFor } from "../../machine/advice.ts"
import type { Settings } from "../flags/Flags.ts"
import type { StatusAnswer } from "../probe/statusSocketName.ts"
import type { RegistrarFacts } from "./registrarFacts.ts"
import { type Check, failed, ok, unknown, warning } from "./report.ts"
import { since } from "./texts.ts"

const names = { registrar: "registrar", kubelet: "kubelet" }

/** A kubelet calls within 2.2 s, but for one whose back-off has grown to its longest, 2 min 2 s. */
const longestBackOffMs = 135_000

/** `settings` are those of this process, `now` is in milliseconds since the epoch. */
export const registrarChecks = (facts: RegistrarFacts, settings: Settings, now: number): ReadonlyArray<Check> => [
  registrarCheck(facts, settings, now),
  facts.kind === "answered"
    ? kubeletCheck(facts.answer, now)
    : unknown(names.kubelet, "only a registrar that runs here knows whether the kubelet has called")
]

const registrarCheck = (facts: RegistrarFacts, settings: Settings, now: number): Check => {
  const name = names.registrar
  switch (facts.kind) {
    case "notFound":
      return facts.looked
        ? failed(
            name,
            "registrar-missing",
            `no registrar with --kubelet-registration-path=${settings.kubeletRegistrationPath} runs here`,
            "either this is another container than the registrar's, or the registrar has ended",
            "run this in the registrar's container with its own flags; one that has ended has said why on the last line of its log (kubectl logs --previous)"
          )
        : unknown(name, "/proc shows no processes")
    case "silent":
      return failed(
        name,
        "registrar-hangs",
        `pid ${facts.pid} does not answer: ${facts.reason}`,
        "the registrar hangs, or has only just started",
        "look at its log; if this stays, restart its container"
      )
    case "answered": {
      const { state, reason, since: entered } = facts.answer
      const what = `pid ${facts.pid}, ${reason.startsWith(state) ? reason : `${state}: ${reason}`}${
        entered === undefined ? "" : `, for ${since(entered, now)}`
      }`
      const others = differing(facts.settings, settings)
      return others.length === 0
        ? ok(name, what)
        : warning(
            name,
            "flags-differ",
            `${what}; it was started with ${others.join(" ")}`,
            "what is said above of other paths is not about this registrar",
            "run this with the registrar's own flags"
          )
    }
  }
}

const differing = (theirs: Settings, ours: Settings): ReadonlyArray<string> => [
  ...(theirs.csiAddress === ours.csiAddress ? [] : [`--csi-address=${theirs.csiAddress}`]),
  ...(theirs.pluginRegistrationPath === ours.pluginRegistrationPath
    ? []
    : [`--plugin-registration-path=${theirs.pluginRegistrationPath}`])
]

const kubeletCheck = (answer: StatusAnswer, now: number): Check => {
  const name = names.kubelet
  const { state, registered, lastVerdict, lastGetInfo, reason } = answer
  if (registered) {
    return ok(name, lastVerdict === undefined ? "registered" : `registered ${since(lastVerdict.at, now)} ago`)
  }
  if (state === "displaced") return unknown(name, "another registrar is in the place of ours")
  if (lastVerdict?.accepted === false) {
    const advice = adviceFor(lastVerdict.text)
    return failed(
      name,
      "refused-by-kubelet",
      `refused ${since(lastVerdict.at, now)} ago: ${lastVerdict.text}`,
      advice === undefined
        ? "a refusal that is not known here"
        : `${advice.means} (the ${sides[advice.side]} has to change)`,
      advice?.toDo ?? "look at the kubelet's own log on the node, around this text"
    )
  }
  if (state === "awaitingKubelet" && lastGetInfo !== undefined) {
    return warning(
      name,
      "verdict-open",
      `asked ${since(lastGetInfo, now)} ago, and has not decided`,
      "the kubelet is calling the driver's NodeGetInfo, for two minutes at most, or is writing to the API server",
      "look at node-get-info above, and at the kubelet's log"
    )
  }
  if (state === "listening") return notCalled(answer, now)
  return warning(
    name,
    "not-announced",
    `not asked yet: ${reason}`,
    "the registrar has nothing in place that the kubelet could call",
    "mend what is said above"
  )
}

const sides = {
  driver: "driver",
  manifest: "pod's manifest",
  kubelet: "kubelet or its node",
  cluster: "cluster's API objects"
}

const notCalled = ({ since: entered = Number.NaN }: StatusAnswer, now: number): Check => {
  const patience = !(now - entered >= longestBackOffMs)
  const found = `has not called${Number.isNaN(entered) ? "" : `; the socket is in place for ${since(entered, now)}`}`
  const means = patience
    ? "a kubelet that watches this folder calls within seconds, or within 2 min 15 s after earlier failures"
    : "no kubelet watches this folder, or the one that does is not running, or deaf since its folder was made anew"
  return (patience ? warning : failed)(
    "kubelet",
    "kubelet-silent",
    found,
    means,
    "compare folder-on-host with the kubelet's --root-dir; then look at the kubelet's log for plugin_watcher, and restart the kubelet if it is silent"
  )
}
