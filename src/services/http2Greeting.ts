/** What an HTTP/2 client says first: its preface, and settings without a wish. A server that speaks HTTP/2 answers with its own. */
export const http2Greeting = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
])
