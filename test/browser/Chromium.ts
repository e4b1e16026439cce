/** A headless Chromium of the machine, spoken to in its own protocol (CDP) over a WebSocket: one page, what it complains of, and its end. */
import { spawn } from "node:child_process"
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { createInterface } from "node:readline"

const names = ["chromium", "chromium-browser", "google-chrome", "chrome"]
const startMs = 30_000

/** Path of a Chromium, if there is one. */
export const chromium = (): string | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

export class Chromium {
  /** Errors of the page and what its policy has stopped. */
  readonly complaints: Array<string> = []
  readonly #socket: WebSocket
  readonly #end: () => Promise<void>
  readonly #waiting = new Map<number, (message: Message) => void>()
  #sent = 0
  #session: string | undefined

  private constructor(socket: WebSocket, end: () => Promise<void>) {
    this.#socket = socket
    this.#end = end
    socket.addEventListener("message", ({ data }) => this.#hear(JSON.parse(String(data)) as Message))
  }

  static async start(file: string): Promise<Chromium> {
    const folder = mkdtempSync(join(tmpdir(), "chromium-"))
    const child = spawn(
      file,
      [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--remote-debugging-port=0",
        `--user-data-dir=${folder}`,
        "about:blank"
      ],
      { stdio: ["ignore", "ignore", "pipe"] }
    )
    const gone = new Promise<void>((resolve) => child.once("close", () => resolve()))
    const end = async () => {
      child.kill("SIGKILL")
      await gone
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
    const url = await new Promise<string>((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`${file} has not started within ${startMs} ms`)), startMs)
      createInterface({ input: child.stderr }).on("line", (line) => {
        const found = /^DevTools listening on (ws:\S+)/.exec(line)?.[1]
        if (found === undefined) return
        clearTimeout(limit)
        resolve(found)
      })
    }).catch(async (error: unknown) => {
      await end()
      throw error
    })
    const socket = new WebSocket(url)
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve)
      socket.addEventListener("error", reject)
    })
    const browser = new Chromium(socket, end)
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" })
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true })
    browser.#session = String(sessionId)
    for (const domain of ["Page", "Runtime", "Log", "DOM"]) await browser.send(`${domain}.enable`)
    return browser
  }

  send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = ++this.#sent
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result ?? {}) : reject(new Error(`${method}: ${error.message}`))
      )
      const session = this.#session === undefined ? {} : { sessionId: this.#session }
      this.#socket.send(JSON.stringify({ id, method, params, ...session }))
    })
  }

  /** The value of an expression in the page; promises are awaited. */
  async value<A>(expression: string): Promise<A> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true
    })
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`)
    return (result as { value: A }).value
  }

  /** Until an expression holds, looked at once a frame. The test's own limit ends it otherwise. */
  async until(expression: string): Promise<void> {
    await this.value(`new Promise((resolve) => {
      const look = () => ((${expression}) ? resolve(true) : requestAnimationFrame(look))
      look()
    })`)
  }

  async open(url: string): Promise<void> {
    await this.send("Page.navigate", { url })
    await this.until(`location.href === ${JSON.stringify(url)} && document.readyState === "complete"`)
  }

  /** Gives a file input a file of this machine. */
  async choose(selector: string, file: string): Promise<void> {
    const { root } = await this.send("DOM.getDocument")
    const { nodeId } = await this.send("DOM.querySelector", { nodeId: (root as { nodeId: number }).nodeId, selector })
    await this.send("DOM.setFileInputFiles", { nodeId, files: [file] })
  }

  async press(key: string): Promise<void> {
    const codes: Readonly<Record<string, number>> = { Tab: 9, Enter: 13, ArrowLeft: 37, ArrowRight: 39, Home: 36 }
    const common = { key, code: key, windowsVirtualKeyCode: codes[key], ...(key === "Enter" ? { text: "\r" } : {}) }
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...common })
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...common })
  }

  /** Into what has the focus, in the place of what is selected. */
  async type(text: string): Promise<void> {
    await this.send("Input.insertText", { text })
  }

  async close(): Promise<void> {
    this.#socket.close()
    await this.#end()
  }

  #hear({ id, method, params = {}, ...answer }: Message): void {
    if (id !== undefined) {
      this.#waiting.get(id)?.(answer)
      this.#waiting.delete(id)
    }
    if (method === "Runtime.exceptionThrown") this.complaints.push(JSON.stringify(params))
    if (method === "Log.entryAdded") {
      const { level, text } = params.entry as { level: string; text: string }
      if (level === "error") this.complaints.push(text)
    }
  }
}
