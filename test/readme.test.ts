/** Claim: what README and docs/troubleshooting.md say of flags, metrics, differences and refusals is what the code does today. */
import { assert, it } from "@effect/vitest"

import { madePages } from "../scripts/readme.ts"

it("the tables of the pages are those of the code (or run `npm run gen`)", async () => {
  for (const { file, is, made } of await madePages()) assert.isTrue(is === made, file)
})
