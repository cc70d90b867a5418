// An agent without Python: it hands over one model turn, waits for people, and runs what they approved.
//
//     HITL_URL=http://127.0.0.1:3000 HITL_TOKEN=hitl_… node examples/door.mjs
//
// Every request may be sent again when its answer was lost, so `ask` does that by itself.

import { randomUUID } from "node:crypto";

// One sentence, and 1, where something is missing or refused.
process.on("uncaughtException", (error) => {
  console.error(`door: ${error.message}`);
  process.exit(1);
});

const { HITL_URL, HITL_TOKEN } = process.env;
if (!HITL_URL || !HITL_TOKEN) {
  throw new Error("Set HITL_URL to the bot's address, and HITL_TOKEN to what `hitl tokens create AGENT` says.");
}
const door = await fetch(`${HITL_URL}/v1/openapi.json`).then((answer) => answer.json()).catch(() => undefined);
if (!door?.openapi) throw new Error(`No bot answers at HITL_URL, ${HITL_URL}: is it right, and does the bot run?`);

const me = `${process.pid}-${randomUUID()}`; // the holder: each process that can die alone is one

async function ask(method, path, body) {
  const headers = {
    authorization: `Bearer ${HITL_TOKEN}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(), // the same for each try of this request
  };
  for (let pause = 250; ; pause = Math.min(pause * 2, 10_000)) {
    try {
      const answer = await fetch(HITL_URL + path, { method, headers, body: body && JSON.stringify(body) });
      const told = await answer.json();
      if (answer.ok) return told;
      if (answer.status < 500) throw new Error(`${told.code}: ${told.detail}`, { cause: "refused" });
    } catch (error) {
      if (error.cause === "refused") throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

const tools = {
  send_email: async ({ to }, key) => `sent to ${to} (${key})`, // hand the key to what the tool calls
};

const calls = [{ id: "c1", name: "send_email", args: { to: "ada@example.com", copies: 1 } }];
// The conversation's id and the message's. With the same two a process that starts again finds its review.
const submitted = { thread_id: `t-${randomUUID()}`, turn: "message-7", calls };

let review = await ask("POST", "/v1/reviews", submitted);
while (!review.outcome) review = await ask("GET", `/v1/reviews/${review.id}?wait=30`);

const results = {};
for (const { id, name, args } of review.outcome.execute) {
  // For 60 seconds from here on; a longer tool says POST …/renew now and then. `name` and `args` are checked.
  const start = await ask("POST", `/v1/reviews/${review.id}/once`, { tool_call_id: id, name, args, holder: me });
  if (start.run) results[id] = await tools[name](args, start.idempotency_key);
}
review = await ask("POST", `/v1/reviews/${review.id}/done`, { holder: me, results });

// What the model is told: the tools' own results, and an answer for each call that did not run.
const told = review.outcome.answers.map((each) => ({ ...each, content: results[each.tool_call_id] ?? each.content }));
console.log(JSON.stringify(told));
