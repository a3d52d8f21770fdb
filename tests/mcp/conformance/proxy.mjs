// Passes requests on as they are, with the token: node proxy.mjs PORT, and the token in TOKEN. The suite cannot send one.
// Prints the port that it listens on.
import http from "node:http";

const port = Number(process.argv[2]);
const server = http.createServer((request, response) => {
  const headers = [...request.rawHeaders, "Authorization", `Bearer ${process.env.TOKEN}`];
  const options = { host: "127.0.0.1", port, method: request.method, path: request.url, headers, agent: false };
  const passed = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders);
    answer.pipe(response);
    answer.on("close", () => response.end());
  });
  passed.on("error", () => response.destroy());
  response.on("close", () => passed.destroy());
  request.pipe(passed);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
