/**
 * npm start                    the story: what happens to a registrar in a cluster, told with the real one
 * npm start -- --keep          step 1 of it, then a prompt; with --driver=/path/to.sock around a driver of yours
 * npm start -- --csi-address…  the registrar itself, with these arguments
 */
import { freshBundle } from "./bundle.ts"
import { play } from "./play.ts"

await play(process.argv.slice(2), freshBundle)
