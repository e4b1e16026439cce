/** The version of this program: that of package.json, put in by the build. */
import manifest from "../package.json" with { type: "json" }

export const version = `v${manifest.version}`
