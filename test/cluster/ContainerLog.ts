/** What a container says, from its first line on, as the runtime writes it to a file. */
import type { Feed } from "../fakes/peers/Feed.ts"
import { Program } from "../fakes/peers/Program.ts"
import { next } from "./waits.ts"

export class ContainerLog {
  readonly #tail: Program
  readonly #lines: Feed<string>

  /** The file need not be there yet. */
  constructor(container: string, file: string) {
    this.#tail = new Program(`tail of ${container}`, ["tail", "--lines=+1", "--follow=name", "--retry", file])
    // A time, the stream and a mark stand in front of each line.
    this.#lines = this.#tail.stdout.derive(`log of ${container}`, (line) => line.replace(/^\S+ \S+ \S+ /, ""))
  }

  /** The next line that has these words in it; lines before it are passed over for good. */
  says(words: string): Promise<string> {
    return next(this.#lines, words, (line) => line.includes(words))
  }

  async close(): Promise<void> {
    await this.#tail.kill()
  }
}
