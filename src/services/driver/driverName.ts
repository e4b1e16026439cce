/** The rule for a CSI driver's name: CSI spec v1, GetPluginInfoResponse.name. The kubelet and the API server rely on it, and it becomes a file name. */

import { shortened } from "../../machine/texts.ts"

const maxNameLength = 63
/** Of a name that is none, which may have megabytes. */
const shownLength = 2 * maxNameLength
const csiName = /^[A-Za-z0-9](?:[-.A-Za-z0-9]*[A-Za-z0-9])?$/

/** What is wrong with a name, as a clause that follows "driver name …"; undefined for a legal one. */
export const driverNameFault = (name: string): string | undefined => {
  if (name === "") return "driver name is empty"
  if (name.length > maxNameLength) {
    return `driver name ${JSON.stringify(shortened(name, shownLength))} has ${name.length} characters, a CSI name has at most ${maxNameLength}`
  }
  if (!csiName.test(name)) {
    return `driver name ${JSON.stringify(name)} is not a CSI name: letters, digits, "-" and ".", with a letter or a digit at both ends`
  }
  return undefined
}
