/** Claim: what the README says of flags, metrics and differences is what the code does today. */
import * as fs from "node:fs/promises"

import { assert, it } from "@effect/vitest"

import { readmeFile, withTables } from "../scripts/readme.ts"

it("the README's tables are those of the code (or run `npm run gen`)", async () => {
  const readme = await fs.readFile(readmeFile, "utf8")
  assert.isTrue(readme === withTables(readme))
})
