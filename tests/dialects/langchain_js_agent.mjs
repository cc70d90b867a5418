// LangChain for JavaScript, driven over lines of JSON: what it raises goes out, what to resume with comes in.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const from = createRequire(`${process.env.HITL_NODE_MODULES}/`);
const load = (name) => import(pathToFileURL(from.resolve(name)).href);
const { createAgent, humanInTheLoopMiddleware, tool, AIMessage, ToolMessage, HumanMessage } =
  await load("langchain");
const { MemorySaver, Command } = await load("@langchain/langgraph");
const { BaseChatModel } = await load("@langchain/core/language_models/chat_models");
const { z } = await load("zod");

const say = (value) => console.log(JSON.stringify(value));
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { config, calls } = JSON.parse((await lines.next()).value);

const ran = [];
const tools = [...new Set([...calls.map((call) => call.name), "other"])].map((name) =>
  tool(
    (args) => {
      ran.push({ name, args });
      return "done";
    },
    { name, description: name, schema: z.object({}).passthrough() },
  ),
);

class Model extends BaseChatModel {
  turns = 0;
  _llmType() {
    return "fake";
  }
  bindTools() {
    return this;
  }
  async _generate() {
    const first = this.turns++ === 0;
    const message = new AIMessage({ content: first ? "" : "end", tool_calls: first ? calls : [] });
    return { generations: [{ message, text: "" }] };
  }
}

const agent = createAgent({
  model: new Model({}),
  tools,
  middleware: [humanInTheLoopMiddleware(config)],
  checkpointer: new MemorySaver(),
});
const thread = { configurable: { thread_id: "1" } };
const paused = await agent.invoke({ messages: [new HumanMessage("go")] }, thread);
say(paused.__interrupt__ ? paused.__interrupt__[0].value : null);
const answer = JSON.parse((await lines.next()).value);
const ended = await agent.invoke(new Command({ resume: answer }), thread);
say({
  ran,
  told: ended.messages
    .filter((message) => ToolMessage.isInstance(message))
    .map(({ tool_call_id, name, content, status }) => ({ tool_call_id, name, content, status })),
});
process.exit(0);
