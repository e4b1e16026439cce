/** Waits for what the node tells: generous, and a failure says what was there instead. */
import { type Feed, FeedTimeoutError } from "../fakes/peers/Feed.ts"

/** Nothing here takes the node more than a few seconds; the rest is for a machine that is busy with something else. */
export const limitMs = 60_000

const sayingWhatWasSeen = async <A>(feed: Feed<A>, wait: Promise<A>): Promise<A> => {
  try {
    return await wait
  } catch (cause) {
    if (!(cause instanceof FeedTimeoutError)) throw cause
    throw new Error(`${cause.message}; seen last: ${JSON.stringify(feed.all.at(-1))}`, { cause })
  }
}

/** The newest item, as soon as it matches. */
export const becomes = <A>(
  feed: Feed<A>,
  what: string,
  matches: (item: A) => boolean,
  withinMs = limitMs
): Promise<A> => sayingWhatWasSeen(feed, feed.becomes(what, matches, withinMs))

/** The next item that matches, after the last one that was handed out. */
export const next = <A>(feed: Feed<A>, what: string, matches: (item: A) => boolean, withinMs = limitMs): Promise<A> =>
  sayingWhatWasSeen(feed, feed.next(what, matches, withinMs))

/** Resolves as soon as the answer is the wanted one; asks again at once, where the kubelet would on the next turn of its probe. */
export const answers = async (wanted: string, ask: () => Promise<string>, withinMs = limitMs): Promise<void> => {
  const deadline = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer === wanted) return
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${wanted}; answered last: ${answer}`)
  }
}
