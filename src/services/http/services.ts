/** Ports of TCP services by name: those of the machine's /etc/services, and a few for machines (and most images) that have none. As in Go. */
import { readFileSync } from "node:fs"

const known: Readonly<Record<string, number>> = {
  ftp: 21,
  ftps: 990,
  gopher: 70,
  http: 80,
  https: 443,
  imap2: 143,
  imap3: 220,
  imaps: 993,
  pop3: 110,
  pop3s: 995,
  smtp: 25,
  submissions: 465,
  ssh: 22,
  telnet: 23
}

/** Of lines such as `http 80/tcp www # World Wide Web`. A later line wins; aliases count. */
export const parseServices = (text: string): ReadonlyMap<string, number> => {
  const ports = new Map(Object.entries(known))
  for (const line of text.split("\n")) {
    const [name, portAndProtocol = "", ...aliases] = line.replace(/#.*/, "").split(/\s+/).filter(Boolean)
    const port = Number(/^(\d+)\/tcp$/.exec(portAndProtocol)?.[1] ?? 0)
    if (name !== undefined && port > 0) for (const alias of [name, ...aliases]) ports.set(alias, port)
  }
  return ports
}

/** Undefined for a name that is not known. Reads the file anew each time; it is asked once in a life. */
export const servicePort = (name: string): number | undefined => {
  let text = ""
  try {
    text = readFileSync("/etc/services", "utf8")
  } catch {
    // No file: the known ones have to do.
  }
  return parseServices(text).get(name.toLowerCase())
}
