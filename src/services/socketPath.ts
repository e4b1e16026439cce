/** How long the path of a unix socket may be. */

/** sockaddr_un holds 108 bytes with the terminating zero; libuv would cut a longer path in silence. */
export const maxSocketPathBytes = 107

export const pathBytes = (socketPath: string) => Buffer.byteLength(socketPath)
