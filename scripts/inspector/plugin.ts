/** Puts the page of the inspector into the bundle, in the place of src/services/inspector/builtPage.ts. */
import type { Plugin } from "rolldown"

import { makePage } from "./page.ts"

export const inspectorPage: Plugin = {
  name: "inspector-page",
  async load(id) {
    if (!id.endsWith("/src/services/inspector/builtPage.ts")) return null
    const page = await makePage()
    return Object.entries(page)
      .map(([name, text]) => `export const ${name} = ${JSON.stringify(text)}`)
      .join("\n")
  }
}
