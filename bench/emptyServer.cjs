// The least that a health endpoint on node can be.
require("node:http")
  .createServer((_request, response) => response.end("ok"))
  .listen(Number(process.argv[2]), "127.0.0.1")
