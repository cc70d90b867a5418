// A LangChain agent in JavaScript: its own middleware interrupts, people decide in Slack, and the agent is resumed
// with their decisions.
//
//     npm install langchain @langchain/core @langchain/langgraph zod
//     HITL_URL=http://127.0.0.1:3000 HITL_TOKEN=hitl_… node examples/langchain_js.mjs

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { Command, MemorySaver } from "@langchain/langgraph";
import {
  AIMessage,
  createAgent,
  createMiddleware,
  fakeModel,
  humanInTheLoopMiddleware,
  tool,
  ToolMessage,
} from "langchain";
import { z } from "zod";

// On an error: print one sentence and exit with 1.
process.on("uncaughtException", (error) => {
  console.error(`langchain_js: ${error.message}`);
  process.exit(1);
});

const { HITL_URL, HITL_TOKEN } = process.env;
if (!HITL_URL || !HITL_TOKEN) {
  throw new Error("Set HITL_URL to the bot's address, and HITL_TOKEN to the output of `hitl tokens create AGENT`.");
}
const openapi = await fetch(`${HITL_URL}/v1/openapi.json`).then((answer) => answer.json()).catch(() => undefined);
if (!openapi?.openapi) throw new Error(`No bot answers at HITL_URL, ${HITL_URL}: check the address, and that the bot runs.`);

const holder = `${process.pid}-${randomUUID()}`; // each process that can die separately needs its own name

async function request(method, path, body) {
  const headers = {
    authorization: `Bearer ${HITL_TOKEN}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(), // the same for each attempt of this request
  };
  for (let pause = 250; ; pause = Math.min(pause * 2, 10_000)) {
    try {
      const response = await fetch(`${HITL_URL}/v1/reviews${path}`, { method, headers, body: body && JSON.stringify(body) });
      const answer = await response.json();
      if (response.ok) return answer;
      if (response.status < 500) throw new Error(`${answer.code}: ${answer.detail}`, { cause: "refused" });
    } catch (error) {
      if (error.cause === "refused") throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

let reviews = []; // the reviews that the agent waits for: one per interrupt, also of sub-agents

// Checks each reviewed call: it runs only once, even if the agent is resumed twice, and only as decided.
const guard = createMiddleware({
  name: "guard",
  wrapToolCall: async (toolRequest, handler) => {
    const { id, name, args } = toolRequest.toolCall;
    const review = reviews.find((each) => each.outcome.execute.some((call) => call.id === id));
    if (!review) return handler(toolRequest); // this call needed no review
    const { run } = await request("POST", `/${review.id}/once`, { tool_call_id: id, name, args, holder });
    if (run) return handler(toolRequest);
    return new ToolMessage({ tool_call_id: id, name, content: "This call was started before. Check its result." });
  },
});

const agent = createAgent({
  // Replace this with your model. It asks for one e-mail, and then ends.
  model: fakeModel()
    .respondWithTools([{ id: "c1", name: "send_email", args: { to: "ada@example.com", copies: 1 } }])
    .respond(new AIMessage("Done.")),
  tools: [
    tool(({ to }) => `sent to ${to}`, {
      name: "send_email",
      description: "Send a mail",
      schema: z.object({ to: z.string(), copies: z.number() }),
    }),
  ],
  middleware: [humanInTheLoopMiddleware({ interruptOn: { send_email: true } }), guard],
  checkpointer: new MemorySaver(), // in production, use a durable one
});

const thread_id = `t-${randomUUID()}`; // the conversation's id
const thread = { configurable: { thread_id } };
let state = await agent.invoke({ messages: [{ role: "user", content: "Write to Ada" }] }, thread);
while (state.__interrupt__) {
  // Send the calls too, if the interrupt is about the last message. A sub-agent's calls are in its own messages.
  const calls = (state.messages.at(-1)?.tool_calls ?? []).map(({ id, name, args }) => ({ id, name, args }));
  const matches = (action) => (call) => call.name === action.name && isDeepStrictEqual(call.args, action.args);
  const waiting = state.__interrupt__.map(async ({ id: turn, value: interrupt }) => {
    const own = interrupt.actionRequests.every((action) => calls.some(matches(action)));
    let review = await request("POST", "", { thread_id, turn, interrupt, ...(own && { calls }) });
    while (!review.outcome) review = await request("GET", `/${review.id}?wait=30`);
    return { ...review, turn, own };
  });
  reviews = await Promise.all(waiting);

  const resume = Object.fromEntries(reviews.map((review) => [review.turn, review.resume])); // each answer by its interrupt's id
  state = await agent.invoke(new Command({ resume }), thread);

  const contents = new Map(
    state.messages.filter((each) => ToolMessage.isInstance(each)).map((each) => [each.tool_call_id, String(each.content)])
  );
  for (const { id, outcome, own } of reviews) {
    // LangChain drops an approved call if another call of its turn was rejected. It stores no result of a sub-agent's calls.
    const results = !own ? [] : outcome.execute.map((call) => [call.id, contents.get(call.id) ?? "failed: not run"]);
    await request("POST", `/${id}/done`, { results: Object.fromEntries(results), holder });
  }
  reviews = [];
}

for (const message of state.messages.filter((each) => ToolMessage.isInstance(each))) {
  console.log(`${message.name}: ${message.content}`);
}
