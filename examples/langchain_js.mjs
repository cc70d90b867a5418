// An agent of LangChain for JavaScript: its own middleware interrupts, people decide in Slack, and it is resumed
// with what they decided.
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

// One sentence, and 1, where something is missing or refused.
process.on("uncaughtException", (error) => {
  console.error(`langchain_js: ${error.message}`);
  process.exit(1);
});

const { HITL_URL, HITL_TOKEN } = process.env;
if (!HITL_URL || !HITL_TOKEN) {
  throw new Error("Set HITL_URL to the bot's address, and HITL_TOKEN to what `hitl tokens create AGENT` says.");
}
const door = await fetch(`${HITL_URL}/v1/openapi.json`).then((answer) => answer.json()).catch(() => undefined);
if (!door?.openapi) throw new Error(`No bot answers at HITL_URL, ${HITL_URL}: is it right, and does the bot run?`);

const holder = `${process.pid}-${randomUUID()}`; // each process that can die alone is one

async function ask(method, path, body) {
  const headers = {
    authorization: `Bearer ${HITL_TOKEN}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(), // the same for each try of this request
  };
  for (let pause = 250; ; pause = Math.min(pause * 2, 10_000)) {
    try {
      const answer = await fetch(`${HITL_URL}/v1/reviews${path}`, { method, headers, body: body && JSON.stringify(body) });
      const told = await answer.json();
      if (answer.ok) return told;
      if (answer.status < 500) throw new Error(`${told.code}: ${told.detail}`, { cause: "refused" });
    } catch (error) {
      if (error.cause === "refused") throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

let reviews = []; // those that the agent waits for: one for each interrupt, also a sub-agent's

// Stands in front of each reviewed call: it runs once, whoever resumes the agent twice, and only as it was decided.
const guard = createMiddleware({
  name: "guard",
  wrapToolCall: async (request, handler) => {
    const { id, name, args } = request.toolCall;
    const review = reviews.find((each) => each.outcome.execute.some((call) => call.id === id));
    if (!review) return handler(request); // nobody had to be asked
    const { run } = await ask("POST", `/${review.id}/once`, { tool_call_id: id, name, args, holder });
    if (run) return handler(request);
    return new ToolMessage({ tool_call_id: id, name, content: "This was started before: see what came of it." });
  },
});

const agent = createAgent({
  // In place of yours: it asks for one mail, and then it is content.
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
  checkpointer: new MemorySaver(), // in production one that lasts
});

const thread_id = `t-${randomUUID()}`; // the conversation's id
const thread = { configurable: { thread_id } };
let state = await agent.invoke({ messages: [{ role: "user", content: "Write to Ada" }] }, thread);
while (state.__interrupt__) {
  // The calls go along where it is the last message that is asked about. A sub-agent's are in a message of its own.
  const calls = (state.messages.at(-1)?.tool_calls ?? []).map(({ id, name, args }) => ({ id, name, args }));
  const same = (asked) => (call) => call.name === asked.name && isDeepStrictEqual(call.args, asked.args);
  const waiting = state.__interrupt__.map(async ({ id: turn, value: interrupt }) => {
    const own = interrupt.actionRequests.every((asked) => calls.some(same(asked)));
    let review = await ask("POST", "", { thread_id, turn, interrupt, ...(own && { calls }) });
    while (!review.outcome) review = await ask("GET", `/${review.id}?wait=30`);
    return { ...review, turn, own };
  });
  reviews = await Promise.all(waiting);

  const resume = Object.fromEntries(reviews.map((review) => [review.turn, review.resume])); // each by its id
  state = await agent.invoke(new Command({ resume }), thread);

  const said = new Map(
    state.messages.filter((each) => ToolMessage.isInstance(each)).map((each) => [each.tool_call_id, String(each.content)])
  );
  for (const { id, outcome, own } of reviews) {
    // LangChain drops an approved call where another of its turn was rejected. Of a sub-agent's calls it keeps no result.
    const results = !own ? [] : outcome.execute.map((call) => [call.id, said.get(call.id) ?? "failed: not run"]);
    await ask("POST", `/${id}/done`, { results: Object.fromEntries(results), holder });
  }
  reviews = [];
}

for (const told of state.messages.filter((each) => ToolMessage.isInstance(each))) {
  console.log(`${told.name}: ${told.content}`);
}
