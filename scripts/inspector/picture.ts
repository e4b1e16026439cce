/**
 * docs/statechart.svg as the page of the inspector wants it: the same layout and ids, no counts, and colours by class, so that the page's style can light
 * states and follow light and dark. A fifth of its size: boxes are rects again, coordinates are whole.
 *
 * It reads what Graphviz writes and test/machine/drawings.ts asks it for, and throws for anything else.
 */

/** Classes by the colours of test/machine/drawings.ts that say more than what it is. */
const classOf: Readonly<Record<string, string>> = { "#f6f8fa": "shade", "#ddf4ff": "start", "#0969da": "start" }

const padding = 6

interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

const numbers = (text: string): ReadonlyArray<number> => (text.match(/-?[\d.]+/g) ?? []).map(Number)

const boxOf = (coordinates: ReadonlyArray<number>): Box => {
  const xs = coordinates.filter((_, n) => n % 2 === 0)
  const ys = coordinates.filter((_, n) => n % 2 === 1)
  return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) }
}

const whole = (text: string) => text.replace(/-?\d+\.\d+/g, (number) => `${Math.round(Number(number))}`)

const attribute = (tag: string, name: string): string => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? ""

const rect = (tag: string): string => {
  const { left, top, right, bottom } = boxOf(numbers(attribute(tag, "d")))
  const [x, y, width, height] = [left, top, right - left, bottom - top].map(Math.round)
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`
}

const label = (tag: string, text: string): string => {
  const start = attribute(tag, "text-anchor") === "start" ? ' class="left"' : ""
  const shown = text.replace(/ ×\d+$/, "").replace(/^(?: |&#160;)+/, "&#160;&#160;&#160;")
  return `<text x="${whole(attribute(tag, "x"))}" y="${whole(attribute(tag, "y"))}"${start}>${shown}</text>`
}

const group = (id: string, kinds: string, inside: string): string => {
  const open = (classes: ReadonlyArray<string>) => `<g id="${id}" class="${[...new Set(classes)].join(" ")}">`
  const paths = inside.match(/<path [^>]*>/g) ?? []
  if (kinds === "edge") {
    const arrows = inside.match(/<polygon [^>]*>/g) ?? []
    return `${open(["edge"])}${paths.map((tag) => `<path d="${whole(attribute(tag, "d"))}"/>`).join("")}${arrows
      .map((tag) => `<polygon points="${attribute(tag, "points")}"/>`)
      .join("")}</g>`
  }
  const [outer = ""] = paths
  const classes = [
    ...kinds.split(" ").filter((kind) => kind === "state" || kind === "event" || kind === "cluster"),
    ...["fill", "stroke"].flatMap((name) => classOf[attribute(outer, name)] ?? []),
    ...(attribute(outer, "stroke-dasharray") === "" ? [] : ["region"])
  ]
  const about = /xlink:title="([^"]*)"/.exec(inside)?.[1]
  const labels = [...inside.matchAll(/(<text [^>]*>)([^<]*)<\/text>/g)].map(([, tag = "", text = ""]) =>
    label(tag, text)
  )
  // Of two rects, the outer one is written last; it must not cover the inner one.
  return [
    open(classes),
    about === undefined ? "" : `<title>${about}</title>`,
    ...paths.toReversed().map(rect),
    ...labels,
    "</g>"
  ].join("")
}

/** Of the text of docs/statechart.svg. */
export const pictureOf = (svg: string): string => {
  const text = svg.replaceAll("&#45;", "-")
  const groups = [
    ...text.matchAll(
      /<g id="([^"]+)" class="((?:cluster|node) (?:state|event)|edge)">([\s\S]*?)(?=<g id="[^"]+" class=|<\/svg>)/g
    )
  ].filter(([, id]) => id !== "registrar")
  if (groups.length === 0) throw new Error("docs/statechart.svg is not as test/machine/drawings.ts draws it")
  const drawn = groups.map(([, id = "", kinds = "", inside = ""]) => group(id, kinds, inside))
  const everything = groups.flatMap(([, , , inside = ""]) =>
    (inside.match(/ (?:d|points)="[^"]*"/g) ?? []).flatMap((tag) => numbers(tag))
  )
  const { left, top, right, bottom } = boxOf(everything)
  const [x, y] = [left - padding, top - padding].map(Math.floor)
  const [width, height] = [right - left + 2 * padding, bottom - top + 2 * padding].map(Math.ceil)
  return `<svg id="picture" xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The statechart">${drawn.join("")}</svg>`
}
