/**
 * What the bundle has instead of the global `performance`, of which nothing but `now` is used: the global loads a dozen modules of node when it is first
 * touched, on the way to `--version` too. Milliseconds since the machine's start.
 */
export const performance = {
  now: (): number => {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1_000 + nanoseconds / 1_000_000
  }
}
