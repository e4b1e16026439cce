/**
 * The chart as Graphviz SVG and as Mermaid text, both with how often each transition was taken; one that was never taken is red.
 *
 * An event is a small box on its way from state to state, in the same frame as the state it leaves: Graphviz keeps boxes apart, and labels of
 * edges it does not. A transition from a state to one of its own children has no line into its box, and one that stays is a row in its state.
 * Nothing here knows a state by name; what is above what follows from the order of the chart's file.
 */
import { instance } from "@viz-js/viz"
import type { AnyStateMachine, AnyStateNode } from "xstate"

import { type Transition, transitionsOf } from "./transitions.ts"

export type Hits = ReadonlyMap<string, number>

/** Transitions between the same two states share a line; each is a row of its label. */
interface Edge {
  readonly source: AnyStateNode
  readonly target: AnyStateNode
  readonly rows: ReadonlyArray<string>
  readonly taken: boolean
}

interface Chart {
  readonly root: AnyStateNode
  readonly edges: ReadonlyArray<Edge>
  /** The transitions that leave their state as it is. */
  readonly staying: ReadonlyMap<AnyStateNode, Pick<Edge, "rows" | "taken">>
}

const eventName = (event: string) =>
  event.startsWith("xstate.after.")
    ? `after ${event.split(".")[2]}`
    : event.startsWith("xstate.done.actor.")
      ? "drained"
      : event

const row = ({ event, guard, key }: Transition, hits: Hits) =>
  `${eventName(event)}${guard === undefined ? "" : ` [${guard}]`} ×${hits.get(key) ?? 0}`

const chartOf = (machine: AnyStateMachine, hits: Hits): Chart => {
  const edges = new Map<string, Edge>()
  const staying = new Map<AnyStateNode, Pick<Edge, "rows" | "taken">>()
  for (const transition of transitionsOf(machine)) {
    const { source, target, key, stays } = transition
    const taken = hits.has(key)
    const id = `${source.id}>${target.id}>${taken}`
    const before = stays ? staying.get(source) : edges.get(id)
    const rows = [...(before?.rows ?? []), row(transition, hits)]
    if (stays) staying.set(source, { rows, taken: taken && before?.taken !== false })
    else edges.set(id, { source, target, rows, taken })
  }
  return { root: machine.root, edges: [...edges.values()], staying }
}

const childrenOf = (node: AnyStateNode): ReadonlyArray<AnyStateNode> => Object.values(node.states)
const isCompound = (node: AnyStateNode) => childrenOf(node).length > 0
const initialOf = (node: AnyStateNode): AnyStateNode | undefined =>
  node.type === "compound" ? node.initial.target[0] : undefined
const isInitial = (node: AnyStateNode) => node.parent !== undefined && initialOf(node.parent) === node
const isRegion = (node: AnyStateNode) => node.parent?.type === "parallel"
const isWithin = (node: AnyStateNode, outer: AnyStateNode): boolean =>
  node.parent !== undefined && (node.parent === outer || isWithin(node.parent, outer))
const entersChild = ({ source, target }: Edge) => isWithin(target, source)
const firstLeaf = (node: AnyStateNode): AnyStateNode => {
  const next = initialOf(node) ?? childrenOf(node)[0]
  return next === undefined ? node : firstLeaf(next)
}
const lastLeaf = (node: AnyStateNode): AnyStateNode => {
  const next = childrenOf(node).at(-1)
  return next === undefined ? node : lastLeaf(next)
}

/** Each colour by day and by night. */
const palette = {
  paper: ["#ffffff", "#0d1117"],
  shade: ["#f6f8fa", "#151b23"],
  event: ["#e9edf1", "#2a313c"],
  frame: ["#8c959f", "#656c76"],
  line: ["#59636e", "#9198a1"],
  ink: ["#1f2328", "#f0f6fc"],
  start: ["#ddf4ff", "#12283f"],
  startFrame: ["#0969da", "#4493f8"],
  missed: ["#cf222e", "#f85149"]
} as const
const color = (name: keyof typeof palette) => `"${palette[name][0]}"`

/** In points. Laid out an eighth larger than drawn, since the reader's font may be wider than the Helvetica that Graphviz measures by. */
const textSize = { state: 12, event: 10.5 }
const laidOut = (points: number) => (points * 1.12).toFixed(2)

const styleSheet = `<style>
text { font: ${textSize.event}px Helvetica, Arial, sans-serif }
.state text:first-of-type { font-size: ${textSize.state}px; font-weight: bold }
@media (prefers-color-scheme: dark) {
${Object.values(palette)
  .map(([day, night]) => `[fill="${day}"] { fill: ${night} } [stroke="${day}"] { stroke: ${night} }`)
  .join("\n")}
}
</style>`

const legend = [
  "×n: taken so often by the walks of the edge cover; red: never. Blue: where a state begins. Dashed: regions that live side by side.",
  "An event that no line leads to belongs to the frame around it."
]

const quoted = (text: string) => JSON.stringify(text)

/** Rows one below the other, from the left; a single one in the middle. */
const rowLabel = (rows: ReadonlyArray<string>) =>
  `"${rows.length === 1 ? rows[0] : rows.map((text) => `${text}\\l`).join("")}"`

/** A long row goes on below with its guard, or the picture is too wide for a README. */
const longestRow = 24
const broken = (text: string) => {
  const guardAt = text.length > longestRow ? text.indexOf(" [") : -1
  return guardAt < 0 ? [text] : [text.slice(0, guardAt), `   ${text.slice(guardAt)}`]
}

const edgeId = ({ source, target, taken }: Edge) => `${source.id}--${target.id}${taken ? "" : "--missed"}`

export const drawSvg = async (machine: AnyStateMachine, hits: Hits): Promise<string> => {
  const { root, edges, staying } = chartOf(machine, hits)

  const state = (node: AnyStateNode): string => {
    const stays = staying.get(node)
    const label = quoted([...(node === root ? [] : [node.key]), ...(stays?.rows ?? [])].join("\n"))
    const common = `id=${quoted(node.id)} class=state label=${label} tooltip=${quoted(node.description ?? node.key)}
      fontcolor=${color(stays?.taken === false ? "missed" : "ink")}`
    if (!isCompound(node)) {
      return `${quoted(node.id)} [${common} peripheries=${node.type === "final" ? 2 : 1}
        color=${color(isInitial(node) ? "startFrame" : "ink")} fillcolor=${color(isInitial(node) ? "start" : "paper")}]`
    }
    const events = edges.filter((edge) => (entersChild(edge) ? edge.source : edge.source.parent) === node)
    return `subgraph ${quoted(`cluster_${node.id}`)} {
      ${common} style="rounded,filled${isRegion(node) ? ",dashed" : ""}" ${node === root ? "margin=0 peripheries=0" : "margin=8 peripheries=1"}
      color=${color(isInitial(node) ? "startFrame" : "frame")} fillcolor=${color(node.path.length % 2 === 0 ? "paper" : "shade")}
      ${[...childrenOf(node).map(state), ...events.map(event)].join("\n")}
    }`
  }

  const event = (edge: Edge): string => {
    const id = quoted(edgeId(edge))
    const label = rowLabel(edge.rows.flatMap(broken))
    return `${id} [id=${id} class=event label=${label} fontsize=${laidOut(textSize.event)} height=0 width=0 margin="0.09,0.03"
      color=${color("event")} fillcolor=${color("event")} fontcolor=${color(edge.taken ? "ink" : "missed")}]`
  }

  /** A way back is drawn from its target up to its source, arrows reversed: Graphviz puts tails above heads, and life shall flow downwards. */
  const lines = (edge: Edge): string => {
    const { source, target, taken } = edge
    const back = source.order > target.order
    const [upper, lower] = back ? [target, source] : [source, target]
    const above = quoted((back ? firstLeaf(upper) : lastLeaf(upper)).id)
    const box = quoted(edgeId(edge))
    const below = quoted(firstLeaf(lower).id)
    const frame = (end: string, node: AnyStateNode) =>
      isCompound(node) ? `${end}=${quoted(`cluster_${node.id}`)}` : ""
    const common = (part: string) =>
      `id=${quoted(`${edgeId(edge)}--${part}`)} color=${color(taken ? "line" : "missed")}`
    const first = `${above} -> ${box} [${common("above")} dir=${back ? "back" : "none"} ${frame("ltail", upper)}]`
    const second = `${box} -> ${below} [${common("below")} dir=${back ? "none" : "forward"} ${frame("lhead", lower)}]`
    return entersChild(edge) ? second : `${first}\n${second}`
  }

  const dot = `digraph registrar {
    compound=true ranksep=0.22 nodesep=0.1 pad=0.1 bgcolor=${color("paper")} fontname=Helvetica fontsize=${laidOut(textSize.state)}
    node [shape=box style="rounded,filled" height=0.3 margin="0.13,0.05" fontname=Helvetica fontsize=${laidOut(textSize.state)}]
    edge [arrowsize=0.6]
    ${state(root)}
    ${edges.map(lines).join("\n")}
    label=${rowLabel(legend)} labeljust=l fontsize=${laidOut(textSize.event)} fontcolor=${color("line")}
  }`
  const drawn = (await instance()).renderString(dot, { format: "svg" })
  const head = "<!-- Drawn from src/machine/registrar.ts by `npm run gen`: do not edit. -->"
  return drawn.replace(/^<\?xml[\s\S]*?(<svg[^>]*>)/, `${head}\n$1\n${styleSheet}`)
}

export const drawMermaid = (machine: AnyStateMachine, hits: Hits): string => {
  const { root, edges, staying } = chartOf(machine, hits)
  const name = (node: AnyStateNode) => node.id.replace(`${root.id}.`, "").replaceAll(".", "_")
  const label = (rows: ReadonlyArray<string>) => `"${rows.join("<br>")}"`
  const boxName = ({ source, target }: Edge) => `${name(source)}_to_${name(target)}`
  const state = (node: AnyStateNode): ReadonlyArray<string> => {
    const text = label([node.key, ...(staying.get(node)?.rows ?? [])])
    if (!isCompound(node)) return [`${name(node)}${node.type === "final" ? `(((${text})))` : `(${text})`}`]
    return [`subgraph ${name(node)} [${text}]`, ...inside(node).map((line) => `  ${line}`), "end"]
  }
  /** Mermaid is at odds with an edge from a subgraph to itself or its own nodes, so these events are boxes here, too. */
  const inside = (node: AnyStateNode): ReadonlyArray<string> => {
    const events = edges.filter((edge) => entersChild(edge) && edge.source === node)
    return [...childrenOf(node).flatMap(state), ...events.map((edge) => `${boxName(edge)}[${label(edge.rows)}]`)]
  }
  const line = (edge: Edge) =>
    entersChild(edge)
      ? `${boxName(edge)} --> ${name(edge.target)}`
      : `${name(edge.source)} -->|${label(edge.rows)}| ${name(edge.target)}`
  const all = (node: AnyStateNode): ReadonlyArray<AnyStateNode> =>
    childrenOf(node).flatMap((child) => [child, ...all(child)])
  const styled = (style: string, looks: string, nodes: ReadonlyArray<AnyStateNode>) =>
    nodes.length === 0 ? [] : [`classDef ${style} ${looks}`, `class ${nodes.map(name).join(",")} ${style}`]
  const lines = [
    ...inside(root),
    ...(staying.get(root)?.rows ?? []).map((text, index) => `${name(root)}_${index}[${label([text])}]`),
    ...edges.map(line),
    ...edges.flatMap(({ taken }, index) =>
      taken ? [] : [`linkStyle ${index} stroke:${palette.missed[0]},color:${palette.missed[0]}`]
    ),
    ...styled("begins", `stroke:${palette.startFrame[0]},stroke-width:2px`, all(root).filter(isInitial)),
    ...styled("region", "stroke-dasharray:5 5", all(root).filter(isRegion))
  ]
  return `flowchart TB\n${lines.map((text) => `  ${text}\n`).join("")}`
}
