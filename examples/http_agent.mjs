// An agent without Python: it submits one model turn, waits for people, and runs the approved calls.
//
//     HITL_URL=http://127.0.0.1:3000 HITL_TOKEN=hitl_… node examples/http_agent.mjs
//
// Every request can be repeated if its answer was lost; `request` does that.

import { randomUUID } from "node:crypto";

// On an error: print one sentence and exit with 1.
process.on("uncaughtException", (error) => {
  console.error(`http_agent: ${error.message}`);
  process.exit(1);
});

const { HITL_URL, HITL_TOKEN } = process.env;
if (!HITL_URL || !HITL_TOKEN) {
  throw new Error("Set HITL_URL to the bot's address, and HITL_TOKEN to the output of `hitl tokens create AGENT`.");
}
const openapi = await fetch(`${HITL_URL}/v1/openapi.json`).then((answer) => answer.json()).catch(() => undefined);
if (!openapi?.openapi) throw new Error(`No bot answers at HITL_URL, ${HITL_URL}: check the address, and that the bot runs.`);

const me = `${process.pid}-${randomUUID()}`; // the holder: each process that can die separately needs its own name

async function request(method, path, body) {
  const headers = {
    authorization: `Bearer ${HITL_TOKEN}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(), // the same for each attempt of this request
  };
  for (let pause = 250; ; pause = Math.min(pause * 2, 10_000)) {
    try {
      const response = await fetch(HITL_URL + path, { method, headers, body: body && JSON.stringify(body) });
      const answer = await response.json();
      if (response.ok) return answer;
      if (response.status < 500) throw new Error(`${answer.code}: ${answer.detail}`, { cause: "refused" });
    } catch (error) {
      if (error.cause === "refused") throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

const tools = {
  send_email: async ({ to }, key) => `sent to ${to} (${key})`, // pass the key to the API that the tool calls
};

const calls = [{ id: "c1", name: "send_email", args: { to: "ada@example.com", copies: 1 } }];
// The ids of the conversation and the message. With the same ids, a restarted process finds its review.
const turn = { thread_id: `t-${randomUUID()}`, turn: "message-7", calls };

let review = await request("POST", "/v1/reviews", turn);
while (!review.outcome) review = await request("GET", `/v1/reviews/${review.id}?wait=30`);

const results = {};
for (const { id, name, args } of review.outcome.execute) {
  // The lease is 60 seconds; a longer tool sends POST …/renew in time. The bot checks `name` and `args`.
  const start = await request("POST", `/v1/reviews/${review.id}/once`, { tool_call_id: id, name, args, holder: me });
  if (start.run) results[id] = await tools[name](args, start.idempotency_key);
}
review = await request("POST", `/v1/reviews/${review.id}/done`, { holder: me, results });

// For the model: the tools' results, and an answer for each call that did not run.
const answers = review.outcome.answers.map((each) => ({ ...each, content: results[each.tool_call_id] ?? each.content }));
console.log(JSON.stringify(answers));
