/** What the playground prints: plain lines, and on a terminal colours and one line at the bottom that is drawn anew. */
import { stripVTControlCharacters, styleText } from "node:util"

type Style = Parameters<typeof styleText>[0]

export type Speaker = "world" | "driver" | "kubelet" | "registrar" | "second" | "log"

const styles: Readonly<Record<Speaker, Style>> = {
  world: "bold",
  driver: "magenta",
  kubelet: "blue",
  registrar: "cyan",
  second: "yellow",
  log: "dim"
}

export class Screen {
  /** A person looks at it. */
  readonly isTerminal: boolean
  readonly #out: NodeJS.WriteStream
  readonly #hasColours: boolean
  readonly #startedAt = performance.now()
  #abbreviated: string | undefined
  #footer: () => string = () => ""
  /** Draws what stands below the last line, after that line. */
  #below: () => void = () => this.#drawFooter()

  constructor(out: NodeJS.WriteStream, env: NodeJS.ProcessEnv) {
    this.#out = out
    this.isTerminal = out.isTTY === true
    this.#hasColours = this.isTerminal && !env.NO_COLOR && env.TERM !== "dumb"
  }

  /** This path is shown as `…` in the events from now on. */
  abbreviate(path: string): void {
    this.#abbreviated = path
  }

  /** The bottom line of a terminal; `refresh` draws it anew. */
  footer(text: () => string): void {
    this.#footer = text
    this.refresh()
  }

  /** In place of a bottom line, the caller draws: its prompt. */
  drawBelow(draw: () => void): void {
    this.#below = draw
  }

  refresh(): void {
    if (!this.isTerminal) return
    this.#out.write("\r\u001b[2K")
    this.#below()
  }

  /** One line, or several. */
  print(text = ""): void {
    this.#out.write(`${this.isTerminal ? "\r\u001b[2K" : ""}${text}\n`)
    if (this.isTerminal) this.#below()
  }

  heading(text: string): void {
    this.print()
    this.print(this.style("bold", text))
  }

  /** What somebody does or says, with the time since the start. */
  event(speaker: Speaker, text: string): void {
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(2).padStart(6)
    const name = this.style(styles[speaker], speaker.padEnd(9))
    const short = this.#abbreviated === undefined ? text : text.replaceAll(this.#abbreviated, "…")
    this.print(`${this.style("dim", `${seconds} s`)}  ${name}  ${speaker === "log" ? this.style("dim", short) : short}`)
  }

  style(style: Style, text: string): string {
    return this.#hasColours ? styleText(style, text, { validateStream: false }) : text
  }

  /** Takes the bottom line away. */
  close(): void {
    this.#below = () => {}
    if (this.isTerminal) this.#out.write("\r\u001b[2K")
  }

  #drawFooter(): void {
    const text = this.#footer()
    const width = Math.max(10, (this.#out.columns || 80) - 1)
    this.#out.write(this.style("dim", stripVTControlCharacters(text).slice(0, width)))
  }
}
