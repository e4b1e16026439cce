/**
 * What a refusal of the kubelet means and what to do: whose side it is, in words for whoever looks at a node. The kubelet's texts are those of
 * `pluginmanager/operationexecutor` and `csi_plugin.go`, Kubernetes 1.20 to 1.37.
 */

/** Who can mend it: the author or operator of the driver, of this pod's manifest, of the node with its kubelet, or of the cluster's API objects. */
export type Side = "driver" | "manifest" | "kubelet" | "cluster"

export interface Advice {
  readonly side: Side
  /** One sentence each, without a full stop. */
  readonly means: string
  readonly toDo: string
}

interface Known extends Advice {
  readonly text: RegExp
}

/** The first that matches counts: what is said of the endpoint stands within what is said of NodeGetInfo. */
export const known: ReadonlyArray<Known> = [
  {
    text: /no handler registered for plugin type/,
    side: "kubelet",
    means: "the kubelet takes no CSI drivers at this moment",
    toDo: "it may still be starting; if this stays, look at the kubelet's own log"
  },
  {
    text: /Another driver with the same name is already registered/,
    side: "manifest",
    means: "a driver of this name is registered on this node at another socket",
    toDo: "look for a second pod of this driver on the node, or for an older registrar that has left its socket in the kubelet's plugin folder; it is tried again until that has gone"
  },
  {
    text: /could not find a highest supported version|empty list for supported versions|must be v1\.x/,
    side: "kubelet",
    means: "the kubelet and this registrar have no version of CSI in common; the registrar offers 1.0.0",
    toDo: "use a kubelet of 1.13 or newer"
  },
  {
    text: /dial unix .*(?:unix:|:\/\/)/,
    side: "manifest",
    means: "--kubelet-registration-path is not a plain path",
    toDo: "give the absolute path on the host, without unix://"
  },
  {
    text: /dial unix .*no such file or directory/,
    side: "manifest",
    means: "on the host there is no socket at --kubelet-registration-path",
    toDo: "give the path of the driver's socket as the host sees it: below the hostPath of the volume in which the driver puts its socket"
  },
  {
    text: /dial unix .*connection refused/,
    side: "driver",
    means: "nobody listens on the socket at --kubelet-registration-path",
    toDo: "check that the driver runs, and that the path on the host is the socket of this driver and not one that an older one has left"
  },
  {
    text: /dial unix .*permission denied/,
    side: "kubelet",
    means: "the kubelet may not connect to the driver's socket",
    toDo: "look at the modes of the folders above it on the host, and at SELinux or AppArmor"
  },
  {
    text: /dial unix /,
    side: "manifest",
    means: "the kubelet could not reach the driver at --kubelet-registration-path",
    toDo: "check that this path on the host is the driver's socket"
  },
  {
    text: /driverNodeID must not be empty/,
    side: "driver",
    means: "the driver answered NodeGetInfo with an empty node_id",
    toDo: "give the driver its node's name or ID; often that is a flag or a variable of its container"
  },
  {
    text: /driver name is empty/,
    side: "driver",
    means: "the driver has no name",
    toDo: "it has to answer GetPluginInfo with one"
  },
  {
    text: /topology value collision/,
    side: "driver",
    means: "the driver reports another topology for this node than the node's labels say",
    toDo: "if the driver is right, remove the old label from the node; it is set anew"
  },
  {
    text: /nodes "[^"]*" not found/,
    side: "kubelet",
    means: "the Node object does not exist yet, or no longer",
    toDo: "wait until the kubelet has registered its node; if this stays, the kubelet's node name and its Node object differ"
  },
  {
    text: /was owned by different node/,
    side: "cluster",
    means: "the CSINode object belonged to an earlier node of the same name, and has been deleted",
    toDo: "nothing: it is tried again"
  },
  {
    text: /field is immutable/,
    side: "cluster",
    means: "the CSINode object has an entry of this driver that may not be changed",
    toDo: "remove the driver's entry from the CSINode object; it is written anew"
  },
  {
    text: /error updating (?:Node|CSINode) object/,
    side: "cluster",
    means: "the kubelet could not write to the Node or CSINode object",
    toDo: "look at what follows “caused by” and at the kubelet's access to the API server"
  },
  {
    text: /code = DeadlineExceeded/,
    side: "driver",
    means: "the driver did not answer NodeGetInfo within the kubelet's two minutes",
    toDo: "look at the driver's log: what does it wait for (a metadata service, an API)?"
  },
  {
    text: /code = Unimplemented/,
    side: "driver",
    means: "the driver does not implement NodeGetInfo, or has no node service at this socket",
    toDo: "start the driver with its node service; every driver on a node needs NodeGetInfo"
  },
  {
    text: /rpc error: code = /,
    side: "driver",
    means: "the driver answered NodeGetInfo with an error",
    toDo: "look at the driver's log"
  }
]

/** Nothing for a text that is not known. */
export const adviceFor = (refusal: string): Advice | undefined => known.find(({ text }) => text.test(refusal))

/** As one value of a log line; empty for a text that is not known. */
export const adviceText = (refusal: string): string => {
  const advice = adviceFor(refusal)
  return advice === undefined ? "" : `${advice.side}: ${advice.means}; ${advice.toDo}`
}

/** A pattern as a person reads it: what varies is left out, alternatives are parted by a word. */
const readable = ({ source }: RegExp): string =>
  source
    .replaceAll(".*", "… ")
    .replaceAll('[^"]*', "…")
    .replace(/\(\?:|\)/g, "")
    .replaceAll("|", " or ")
    .replace(/\\(.)/g, "$1")
    .trim()

/** What is known of refusals, in Markdown; the first row that fits counts. */
export const adviceTable = (): string =>
  [
    "| the refusal has | whose side | cause | fix |",
    "| --- | --- | --- | --- |",
    ...known.map(({ text, side, means, toDo }) => `| ${readable(text)} | ${side} | ${means} | ${toDo} |`)
  ].join("\n")
