/** Sockets of others: a live one and a dead one, put over whatever lies at a path, as a rival registrar does it. */
import * as fs from "node:fs"
import * as net from "node:net"

/** Accepts connections and says nothing. Closing it leaves its file: libuv unlinks the name that was bound, which is another. */
export const putLiveSocket = (at: string, boundAs: string): Promise<net.Server> =>
  new Promise((resolve, reject) => {
    const connections = new Set<net.Socket>()
    const server = net.createServer((socket) => {
      connections.add(socket)
      socket.on("error", () => socket.destroy()).on("close", () => connections.delete(socket))
    })
    server.on("error", reject)
    server.on("close", () => {
      for (const socket of connections) socket.destroy()
    })
    server.listen(boundAs, () => {
      fs.renameSync(boundAs, at)
      resolve(server)
    })
  })

/** A socket file that nobody listens on, as a killed process leaves it. */
export const putDeadSocket = async (at: string, boundAs: string): Promise<void> => {
  const server = await putLiveSocket(at, boundAs)
  await new Promise<void>((resolve) => server.close(() => resolve()))
}

/** Identity of what lies at the path, and since when: the number of an inode may be given to the next file. */
export const identityOf = (path: string): string => {
  const { dev, ino, ctimeNs } = fs.lstatSync(path, { bigint: true })
  return `${dev}:${ino}:${ctimeNs}`
}
