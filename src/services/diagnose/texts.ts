/** Quantities as a person reads them. */

/** Milliseconds as seconds, with as many digits as matter. */
export const seconds = (ms: number): string => `${Number((ms / 1_000).toFixed(ms < 1_000 ? 3 : 1))}s`

/** A span since a moment, both in milliseconds since the epoch. */
export const since = (at: number, now: number): string => seconds(Math.max(0, now - at))

const modeText = (mode: number): string => `0${mode.toString(8).padStart(3, "0")}`

export const ownerText = ({ mode, uid, gid }: { mode: number; uid: number; gid: number }): string =>
  `mode ${modeText(mode)}, owner ${uid}:${gid}`
