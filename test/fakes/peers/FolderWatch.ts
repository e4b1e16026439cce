/** What happens in a folder, seen as the kubelet sees it: by inotify. */
import * as fs from "node:fs"
import { join } from "node:path"

import { Feed } from "./Feed.ts"

export interface FolderEvent {
  readonly name: string
  /** Whether something lay there when the event was read; false for a removal. */
  readonly there: boolean
  /** On the clock of `performance.now()`. */
  readonly at: number
}

export class FolderWatch {
  /** Names that came or went; changes of content and mode are left out. */
  readonly events: Feed<FolderEvent>
  readonly #folder: string
  readonly #watcher: fs.FSWatcher

  constructor(folder: string) {
    this.#folder = folder
    this.events = new Feed(`events in ${folder}`)
    this.#watcher = fs.watch(folder, (kind, name) => {
      if (kind !== "rename" || name === null) return
      this.events.push({ name, there: fs.existsSync(join(folder, name)), at: performance.now() })
    })
  }

  /** The next time that something is at `name`, after a moment on the clock of `performance.now()`. */
  appears(name: string, since = 0): Promise<FolderEvent> {
    return this.events.next(`${name} appears`, (event) => event.name === name && event.there && event.at > since)
  }

  /** Waits until none of the names is there any more, in whatever order they go. */
  async vanish(...names: ReadonlyArray<string>): Promise<void> {
    while (names.some((name) => fs.existsSync(join(this.#folder, name)))) {
      await this.events.next(`${names.join(", ")} vanish`, () => true)
    }
  }

  /** How often each name that the kubelet looks at has come or gone so far; inotify keeps the order, so a mark of our own ends it. */
  async counts(): Promise<Record<string, number>> {
    const mark = `.mark-${this.events.all.length}`
    const seen = this.events.becomes("the mark", ({ name }) => name === mark)
    fs.writeFileSync(join(this.#folder, mark), "")
    await seen
    fs.rmSync(join(this.#folder, mark))
    const counts: Record<string, number> = {}
    for (const { name } of this.events.all) if (!name.startsWith(".")) counts[name] = (counts[name] ?? 0) + 1
    return counts
  }

  close(): void {
    this.#watcher.close()
  }
}
