/** The page of the inspector. This file only stands for it: the build puts the real one in its place (scripts/inspector/plugin.ts). */

/** The whole page, with its style, its script and the chart. */
export const html: string = ""

/** Its Content-Security-Policy: nothing but its own style and script, by their hashes, and the server that it came from. */
export const policy: string = ""

/** Hash of the chart in it. */
export const chart: string = ""
