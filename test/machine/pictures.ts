/**
 * The pictures of the chart, drawn from the chart: docs/statechart.svg by Graphviz, and a Mermaid twin in the README. Each transition shows how
 * often the edge cover took it; one that was never taken is red. A run compares the committed pictures with its own, and writes them when
 * UPDATE_PICTURES is set (`npm run gen`).
 */
import * as fs from "node:fs/promises"
import * as path from "node:path"

import { assert } from "@effect/vitest"
import { instance } from "@viz-js/viz"
import type { AnyStateMachine, AnyStateNode } from "xstate"

import { type Transition, transitionsOf } from "./transitions.ts"

type Hits = ReadonlyMap<string, number>

const root = path.resolve(import.meta.dirname, "../..")
const svgFile = path.join(root, "docs/statechart.svg")
const readmeFile = path.join(root, "README.md")
const mermaidBlock = /(<!-- statechart: drawn by `npm run gen`, do not edit -->\n)[\s\S]*?(<!-- \/statechart -->)/

export const checkPictures = async (machine: AnyStateMachine, hits: Hits): Promise<void> => {
  const svg = await drawSvg(machine, hits)
  const mermaid = drawMermaid(machine, hits)
  const readme = await fs.readFile(readmeFile, "utf8")
  const withMermaid = readme.replace(mermaidBlock, `$1\n\`\`\`mermaid\n${mermaid}\`\`\`\n$2`)
  if (process.env.UPDATE_PICTURES !== undefined) {
    await fs.writeFile(svgFile, svg)
    await fs.writeFile(readmeFile, withMermaid)
    return
  }
  const advice = "differs from the chart or from what the walks took; run `npm run gen` and look at the picture"
  assert.match(readme, mermaidBlock, "README.md has lost the place of its statechart")
  assert.isTrue((await fs.readFile(svgFile, "utf8")) === svg, `docs/statechart.svg ${advice}`)
  assert.isTrue(readme === withMermaid, `the statechart in README.md ${advice}`)
}

/** Edges between the same two states share a line; each event is a row of its label. */
interface Edge {
  readonly source: AnyStateNode
  readonly target: AnyStateNode
  readonly rows: ReadonlyArray<string>
  readonly taken: boolean
}

const eventName = (event: string) =>
  event.startsWith("xstate.after.")
    ? `after ${event.split(".")[2]}`
    : event.startsWith("xstate.done.actor.")
      ? "drained"
      : event

const row = ({ event, guard, key }: Transition, hits: Hits) =>
  `${eventName(event)}${guard === undefined ? "" : ` [${guard}]`} ×${hits.get(key) ?? 0}`

const edgesOf = (machine: AnyStateMachine, hits: Hits): ReadonlyArray<Edge> => {
  const edges = new Map<string, Edge>()
  for (const transition of transitionsOf(machine)) {
    const { source, target, key } = transition
    const taken = hits.has(key)
    const id = `${source.id}>${target.id}>${taken}`
    const rows = [...(edges.get(id)?.rows ?? []), row(transition, hits)]
    edges.set(id, { source, target, rows, taken })
  }
  return [...edges.values()]
}

const isCompound = (node: AnyStateNode) => Object.keys(node.states).length > 0
const initialOf = (node: AnyStateNode): AnyStateNode | undefined =>
  node.type === "compound" ? node.initial.target[0] : undefined
const firstLeaf = (node: AnyStateNode): AnyStateNode => {
  const next = initialOf(node) ?? Object.values(node.states)[0]
  return next === undefined ? node : firstLeaf(next)
}

const lastLeaf = (node: AnyStateNode): AnyStateNode => {
  const next = Object.values(node.states).at(-1)
  return next === undefined ? node : lastLeaf(next)
}

const ink = "#24292f"
const missed = "#cf222e"
const quoted = (text: string) => JSON.stringify(text)

const drawSvg = async (machine: AnyStateMachine, hits: Hits): Promise<string> => {
  const node = (state: AnyStateNode): string => {
    if (isCompound(state)) {
      const style = state.parent?.type === "parallel" ? "rounded,dashed" : "rounded"
      return `subgraph ${quoted(`cluster_${state.id}`)} { label=${quoted(state.key)} style=${quoted(style)} color="#8c959f" ${Object.values(state.states).map(node).join("\n")} }`
    }
    const initial = state.parent !== undefined && initialOf(state.parent) === state
    const shape = state.type === "final" ? "peripheries=2 " : ""
    return `${quoted(state.id)} [id=${quoted(state.id)} label=${quoted(state.key)} tooltip=${quoted(state.description ?? "")} ${shape}fillcolor=${initial ? '"#ddf4ff"' : '"#ffffff"'}]`
  }
  const edge = ({ source, target, rows, taken }: Edge, index: number): string => {
    const color = taken ? ink : missed
    const ends = [
      isCompound(source) ? `ltail=${quoted(`cluster_${source.id}`)}` : "",
      isCompound(target) && target !== source ? `lhead=${quoted(`cluster_${target.id}`)}` : ""
    ].join(" ")
    const label = `${rows.join("\\l")}\\l`
    const leaves = target === source ? firstLeaf(source) : lastLeaf(source)
    return `${quoted(leaves.id)} -> ${quoted(firstLeaf(target).id)} [id="edge${index}" label="${label}" color=${quoted(color)} fontcolor=${quoted(color)} ${ends}]`
  }
  const dot = `digraph registrar {
    compound=true rankdir=TB ranksep=0.45 nodesep=0.35 bgcolor="#ffffff" fontname="Helvetica" fontsize=13 fontcolor="${ink}"
    node [shape=box style="rounded,filled" fontname="Helvetica" fontsize=13 color="${ink}" fontcolor="${ink}"]
    edge [fontname="Helvetica" fontsize=10 arrowsize=0.7]
    ${Object.values(machine.root.states).map(node).join("\n")}
    ${edgesOf(machine, hits).map(edge).join("\n")}
    ${stacked(machine.root).join("\n")}
  }`
  const drawn = (await instance()).renderString(dot, { format: "svg" })
  return drawn.replace(/^<\?xml[^]*?<svg/, "<!-- Drawn from src/machine/registrar.ts by `npm run gen`: do not edit. -->\n<svg")
}

/** Regions of a parallel state one below the other, or the picture is too wide for a README. */
const stacked = (node: AnyStateNode): ReadonlyArray<string> => {
  const children = Object.values(node.states)
  const below = children.flatMap((child, index) => {
    const next = children[index + 1]
    return node.type === "parallel" && next !== undefined
      ? [`${quoted(lastLeaf(child).id)} -> ${quoted(firstLeaf(next).id)} [style=invis]`]
      : []
  })
  return [...below, ...children.flatMap(stacked)]
}

const drawMermaid = (machine: AnyStateMachine, hits: Hits): string => {
  const name = (state: AnyStateNode) => state.id.replace(/^registrar\./, "").replaceAll(".", "_")
  const node = (state: AnyStateNode, indent: string): string => {
    if (!isCompound(state)) return `${indent}${name(state)}${state.type === "final" ? `([${state.key}])` : `(${state.key})`}\n`
    const inner = Object.values(state.states).map((child) => node(child, `${indent}  `)).join("")
    return `${indent}subgraph ${name(state)} [${state.key}]\n${inner}${indent}end\n`
  }
  const edges = edgesOf(machine, hits)
  const drawn = edges.map(({ source, target, rows }) => `  ${name(source)} -->|"${rows.join("<br>")}"| ${name(target)}\n`)
  const red = edges.flatMap(({ taken }, index) => (taken ? [] : [`  linkStyle ${index} stroke:${missed},color:${missed}\n`]))
  return `flowchart TB\n${Object.values(machine.root.states).map((state) => node(state, "  ")).join("")}${drawn.join("")}${red.join("")}`
}
