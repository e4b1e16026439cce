import { setTimeout } from "node:timers/promises"

/** Generous for a busy machine: a registration takes the kubelet up to 2.2 s, and a step of its back-off a few more. */
const defaultTimeoutMs = 15_000

export class FeedTimeoutError extends Error {
  override readonly name = "FeedTimeoutError"
}

export class FeedEndedError extends Error {
  override readonly name = "FeedEndedError"
}

/**
 * What a process has said, in order, and somebody who waits for the rest of it.
 *
 * `next` hands out every item at most once and skips what does not match, so that a test reads as the story it expects:
 * registered, deregistered, registered again. `becomes` asks about the newest item, which suits items that are a state.
 */
export class Feed<A> {
  readonly all: Array<A> = []
  readonly #source: string
  readonly #listeners = new Set<() => void>()
  #read = 0
  #ended = false

  /** `source` names the speaker in the errors. */
  constructor(source: string) {
    this.#source = source
  }

  push(item: A): void {
    this.all.push(item)
    this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  /** A feed of what `convert` makes of each item, from the first one on; `undefined` leaves the item out. */
  derive<B>(source: string, convert: (item: A) => B | undefined): Feed<B> {
    const derived = new Feed<B>(source)
    let converted = 0
    const follow = () => {
      while (converted < this.all.length) {
        const item = convert(this.all[converted++] as A)
        if (item !== undefined) {
          derived.push(item)
        }
      }
      if (this.#ended) {
        derived.end()
      }
    }
    this.#listeners.add(follow)
    follow()
    return derived
  }

  /** The first match after the last one that was handed out. Rejects after the time-out, and when the feed ends without. */
  next(what: string, matches: (item: A) => boolean, timeoutMs = defaultTimeoutMs): Promise<A> {
    return this.#until(what, timeoutMs, () => {
      while (this.#read < this.all.length) {
        const item = this.all[this.#read++] as A
        if (matches(item)) {
          return item
        }
      }
      return undefined
    })
  }

  /** The newest item as soon as it matches; hands nothing out. */
  becomes(what: string, matches: (item: A) => boolean, timeoutMs = defaultTimeoutMs): Promise<A> {
    return this.#until(what, timeoutMs, () => {
      const item = this.all.at(-1)
      return item !== undefined && matches(item) ? item : undefined
    })
  }

  /** What matches of the items that come during the next `forMs`. Only for what must not happen: nothing else needs a wait. */
  async during(forMs: number, matches: (item: A) => boolean): Promise<Array<A>> {
    const from = this.all.length
    await setTimeout(forMs)
    return this.all.slice(from).filter(matches)
  }

  #wake(): void {
    for (const listener of this.#listeners) {
      listener()
    }
  }

  #until(what: string, timeoutMs: number, find: () => A | undefined): Promise<A> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        clearTimeout(timer)
        this.#listeners.delete(look)
        finish()
      }
      const look = () => {
        const item = find()
        if (item !== undefined) {
          settle(() => resolve(item))
        } else if (this.#ended) {
          settle(() => reject(new FeedEndedError(`${this.#source} ended before: ${what}`)))
        }
      }
      const timer = globalThis.setTimeout(
        () => settle(() => reject(new FeedTimeoutError(`${this.#source}: not within ${timeoutMs} ms: ${what}`))),
        timeoutMs
      )
      this.#listeners.add(look)
      look()
    })
  }
}
