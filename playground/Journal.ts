/** What a peer has seen, in order, and people who wait for the rest of it or watch it grow. */

/** Generous for a busy machine: a registration takes a kubelet two of its ticks at most, 2.2 s. */
const defaultLimitMs = 15_000
/** How much of what was seen instead is told. */
const shownItems = 8

/** What was waited for did not come in time, or cannot come any more. */
export class NotSeenError extends Error {
  override readonly name = "NotSeenError"
  readonly expected: string
  /** Why the wait is over. */
  readonly reason: string
  /** The newest items since the wait's start, oldest first. */
  readonly seen: ReadonlyArray<string>

  constructor(expected: string, reason: string, seen: ReadonlyArray<string>) {
    super(`expected ${expected}: ${reason}; seen: ${seen.join(" | ") || "nothing"}`)
    this.expected = expected
    this.reason = reason
    this.seen = seen
  }
}

export interface Wait {
  /** Index of the first item that counts; 0, the default, is the whole past. `mark()` is now. */
  readonly from?: number
  readonly limitMs?: number
  /** Ends the wait with the signal's reason. */
  readonly signal?: AbortSignal
}

export class Journal<A> {
  readonly #items: Array<A> = []
  readonly #listeners = new Set<(item: A | undefined) => void>()
  readonly #show: (item: A) => string
  #closed: string | undefined

  /** `show` is how an item reads in an error. */
  constructor(show: (item: A) => string = String) {
    this.#show = show
  }

  get all(): ReadonlyArray<A> {
    return this.#items
  }

  /** Where the next item will stand. */
  mark(): number {
    return this.#items.length
  }

  add(item: A): void {
    this.#items.push(item)
    for (const listener of [...this.#listeners]) listener(item)
  }

  /** Nothing more comes: whoever waits is told `why` at once. */
  close(why: string): void {
    this.#closed = why
    for (const listener of [...this.#listeners]) listener(undefined)
  }

  /** Hears every later item until the returned function is called. */
  onAdd(listener: (item: A) => void): () => void {
    const heard = (item: A | undefined) => item !== undefined && listener(item)
    this.#listeners.add(heard)
    return () => this.#listeners.delete(heard)
  }

  /** The first match from `from` on, at once when it is there already. Rejects with a NotSeenError; `what` is how that names the match. */
  waitFor<B extends A>(what: string, matches: (item: A) => item is B, wait?: Wait): Promise<B>
  waitFor(what: string, matches: (item: A) => boolean, wait?: Wait): Promise<A>
  waitFor(what: string, matches: (item: A) => boolean, wait: Wait = {}): Promise<A> {
    const { from = 0, limitMs = defaultLimitMs, signal } = wait
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        clearTimeout(timer)
        this.#listeners.delete(look)
        signal?.removeEventListener("abort", abort)
        finish()
      }
      const fail = (reason: string) => {
        const seen = this.#items.slice(from).slice(-shownItems).map(this.#show)
        settle(() => reject(new NotSeenError(what, reason, seen)))
      }
      let next = from
      const look = () => {
        while (next < this.#items.length) {
          const item = this.#items[next++] as A
          if (matches(item)) return settle(() => resolve(item))
        }
        if (this.#closed !== undefined) fail(this.#closed)
      }
      const abort = () => settle(() => reject(signal?.reason))
      const timer = setTimeout(() => fail(`not within ${limitMs / 1_000} s`), limitMs)
      this.#listeners.add(look)
      signal?.addEventListener("abort", abort)
      if (signal?.aborted) abort()
      else look()
    })
  }
}
