/** A histogram of fixed bounds, as Prometheus counts one: each bucket holds what is at most its bound. */
import { numberText, type Sample } from "./exposition.ts"

export class Histogram {
  readonly #bounds: ReadonlyArray<number>
  /** One more than there are bounds: the last holds what is above all of them. */
  readonly #counts: Array<number>
  #sum = 0

  /** Bounds ascend, and are finite. */
  constructor(bounds: ReadonlyArray<number>) {
    this.#bounds = bounds
    this.#counts = Array<number>(bounds.length + 1).fill(0)
  }

  observe(value: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound)
    const bucket = found < 0 ? this.#bounds.length : found
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sum += value
  }

  samples(labels: Readonly<Record<string, string>>): ReadonlyArray<Sample> {
    let count = 0
    const buckets = this.#counts.map((own, bucket): Sample => {
      count += own
      const le = numberText(this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)
      return { suffix: "_bucket", labels: { ...labels, le }, value: count }
    })
    return [...buckets, { suffix: "_sum", labels, value: this.#sum }, { suffix: "_count", labels, value: count }]
  }
}
