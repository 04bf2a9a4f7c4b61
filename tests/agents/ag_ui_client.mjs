// Drives @ag-ui/client against argv[2] with the words of argv[3…]; prints one JSON line a run: the tool calls and messages it has.
import { HttpAgent } from "@ag-ui/client";

const tools = [{ name: "open_page", description: "opens a page", parameters: { type: "object" } }];
for (const word of process.argv.slice(3)) {
  const agent = new HttpAgent({ url: process.argv[2], threadId: "thread-" + word });
  agent.messages = [{ id: "u1", role: "user", content: "please " + word }];
  await agent.runAgent({ runId: word + "-1", tools });
  if (word === "client") {
    agent.addMessage({ id: "t1", role: "tool", toolCallId: "cli-1", content: "opened" });
    await agent.runAgent({ runId: word + "-2", tools });
  }
  if (word === "approve")
    await agent.runAgent({ runId: word + "-2", tools, resume: [{ interruptId: "int-1", status: "resolved", payload: { approved: true } }] });
  const calls = agent.messages.flatMap((message) => message.toolCalls ?? []);
  console.log(JSON.stringify({ word, calls: calls.map((c) => [c.id, c.function.name, c.function.arguments]), last: agent.messages.at(-1).role }));
}
