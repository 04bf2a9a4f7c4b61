// An AG-UI application for tests: what it does is the last word of the newest user message, unless the client answered
// or decided something. Listens on argv[2]; /proto answers in the binary form. Any origin may call it, as applications do.
import http from "node:http";
import { EventEncoder } from "@ag-ui/encoder";

const call = (id, name, args) => [
  { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name },
  { type: "TOOL_CALL_ARGS", toolCallId: id, delta: JSON.stringify(args).slice(0, 5) },
  { type: "TOOL_CALL_ARGS", toolCallId: id, delta: JSON.stringify(args).slice(5) },
  { type: "TOOL_CALL_END", toolCallId: id },
];
const say = [
  { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "fertig ✓" },
  { type: "TEXT_MESSAGE_END", messageId: "m1" },
];
const scripts = {
  own: () => [[...call("own-1", "prune_orchard", { row: 7 }),
    { type: "TOOL_CALL_RESULT", messageId: "r1", toolCallId: "own-1", content: "pruned", role: "tool" }, ...say], { type: "success" }],
  client: () => [call("cli-1", "open_page", { url: "https://orchard.example/ä" }), { type: "success", pendingToolCallIds: ["cli-1"] }],
  approve: () => [call("app-1", "burn_row", { row: 7 }), { type: "interrupt",
    interrupts: [{ id: "int-1", reason: "tool_approval", message: "Burn it?", toolCallId: "app-1", expiresAt: "2099-01-01T00:00:00Z" }] }],
  chunks: () => [[{ type: "TOOL_CALL_CHUNK", toolCallId: "chk-1", toolCallName: "prune_orchard", delta: '{"row":' },
    { type: "TOOL_CALL_CHUNK", delta: "8}" }, ...say], { type: "success", pendingToolCallIds: ["chk-1"] }],
  text: () => [say, { type: "success" }],
};

function script(input) {
  if (input.resume?.length) return [[...call("app-1", "burn_row", { row: 7 }),
    { type: "TOOL_CALL_RESULT", messageId: "r2", toolCallId: "app-1", content: "burnt", role: "tool" }, ...say], { type: "success" }];
  const last = input.messages.at(-1);
  const word = last?.role === "user" ? String(last.content).split(" ").at(-1) : "text";
  return (scripts[word] ?? scripts.text)();
}

http.createServer((request, response) => {
  const cors = { "access-control-allow-origin": request.headers.origin ?? "*", "access-control-allow-headers": "content-type",
    "access-control-allow-methods": "POST, OPTIONS" };
  if (request.method === "OPTIONS") return response.writeHead(204, cors).end();
  let body = "";
  request.setEncoding("utf8").on("data", (piece) => (body += piece)).on("end", () => {
    const input = JSON.parse(body);
    const binary = request.url.startsWith("/proto");
    const encoder = new EventEncoder({ accept: binary ? "application/vnd.ag-ui.event+proto" : "text/event-stream" });
    response.writeHead(200, { ...cors, "content-type": encoder.getContentType() });
    const [events, outcome] = script(input);
    const ids = { threadId: input.threadId, runId: input.runId };
    for (const event of [{ type: "RUN_STARTED", ...ids }, ...events, { type: "RUN_FINISHED", ...ids, outcome }])
      response.write(binary ? encoder.encodeBinary(event) : encoder.encodeSSE(event));
    response.end();
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
