// The messages of a channel and of a thread.

import { post, toast } from "./acting.js";
import { blocks } from "./blocks.js";
import { gather } from "./inputs.js";
import { follow, reconcile } from "./lists.js";
import { $, go, h, nameOf, place, state } from "./place.js";
import { clock, mrkdwn, pretty } from "./text.js";

const isReply = (message) => message.thread_ts && message.thread_ts !== message.ts;
const repliesTo = (ts) => (state.messages[place.channel] ?? []).filter((message) => isReply(message) && message.thread_ts === ts);

export function renderMessages() {
  const list = $("messages");
  const top = (state.messages[place.channel] ?? []).filter((message) => !isReply(message));
  const mine = notices().filter((one) => !one.thread_ts || one.thread_ts !== place.thread);
  const items = top.length + mine.length ? withDays(inOrder([...top, ...mine])) : [emptyItem()];
  follow(list, place.channel, () => reconcile(list, items));
}

/** The person's private notices in this channel. A notice of a thread is shown in the thread while that is open. */
const notices = () =>
  state.ephemerals.filter((one) => one.channel === place.channel).map((one) => ({ ...one, ephemeral: true }));
const inOrder = (messages) => messages.sort((a, b) => Number(a.ts) - Number(b.ts));

function emptyItem() {
  return { key: "empty", drawn: "", build: () => h("p", { class: "empty" }, "No messages yet. Ask the agent something below.") };
}

function withDays(messages) {
  const items = [];
  let last = null;
  for (const message of messages) {
    const when = new Date(Number(message.ts) * 1000);
    const day = pretty(when) ?? when.toLocaleDateString([], { weekday: "long", month: "long", day: "numeric" });
    const build = () => h("div", { class: "day" }, h("span", {}, day));
    if (day !== last) items.push({ key: `day ${place.channel} ${day}`, drawn: "", build });
    last = day;
    items.push(messageItem(message));
  }
  return items;
}

function messageItem(message, inThread = false) {
  const replies = inThread ? 0 : repliesTo(message.ts).length || message.reply_count || 0;
  return {
    key: `${place.channel} ${message.id ?? message.ts}`,
    drawn: JSON.stringify([message, replies, state.users, state.channels]),
    build: (old) => drawMessage(message, replies, inThread, old),
  };
}

export function drawMessage(message, replies, inThread, old) {
  const bot = message.bot ?? message.ephemeral;
  const author = message.username || (message.user ? nameOf(message.user) : state.users.find((user) => user.is_bot)?.real_name) || "app";
  const when = new Date(Number(message.ts) * 1000);
  const context = { channel: message.channel ?? place.channel, ts: message.ts, values: old ? gather(old) : undefined };
  const open = () => { go({ thread: message.ts }); $("reply").elements[0].focus(); };
  return h(
    "article",
    {
      class: `message${message.ephemeral ? " ephemeral" : ""}`,
      "data-ts": message.ts,
      tabindex: "-1",
      "aria-label": `${author}, ${clock(when)}`,
    },
    h("span", { class: `avatar ${bot ? "bot" : `tint-${tint(author)}`}`, "aria-hidden": "true" }, author.slice(0, 1).toUpperCase()),
    h("div", { class: "main" },
      message.ephemeral && h("p", { class: "private" }, "Only visible to you"),
      h("p", { class: "by" }, h("strong", {}, author), bot && h("span", { class: "app" }, "APP"),
        h("time", { datetime: when.toISOString(), title: when.toLocaleString() }, clock(when)),
        message.edited && h("span", { class: "edited" }, "(edited)")),
      message.blocks?.length ? blocks(message.blocks, context) : h("div", { class: "rich" }, mrkdwn(message.text ?? "")),
      message.files?.map(drawFile),
      message.ephemeral && h("button", { type: "button", class: "link", onclick: () => dismiss(message.id) }, "Dismiss"),
      !message.ephemeral && !inThread && h("button", { type: "button", class: `link thread${replies ? "" : " quiet"}`, onclick: open },
        replies ? `${replies} ${replies === 1 ? "reply" : "replies"}` : "Reply in thread")),
  );
}

function drawFile(file) {
  const size = file.size < 1024 ? `${file.size} bytes` : `${Math.ceil(file.size / 1024)} kB`;
  return h("a", { class: "file", href: `/files/${file.id}?user=${place.user}`, target: "_blank", rel: "noopener" },
    h("strong", {}, file.title || file.name), h("small", {}, `${file.name} · ${size}`));
}

const tint = (name) => [...name].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % 5;

async function dismiss(id) {
  const answer = await post("dismiss", { id });
  if (!answer.ok) toast(answer.error, "alert");
}

/** A link to a reply leads into its thread. */
export function openThreadOfReply() {
  const linked = place.ts && state.messages[place.channel]?.find((message) => message.ts === place.ts);
  if (linked && isReply(linked)) place.thread = linked.thread_ts;
}

export function showOnce() {
  if (!place.ts) return;
  const list = place.thread ? $("replies") : $("messages");
  const node = list.querySelector(`.message[data-ts="${CSS.escape(place.ts)}"]`);
  place.ts = null;
  if (!node) return;
  node.scrollIntoView({ block: "start" });
  node.focus({ preventScroll: true });
  node.classList.add("flash");
}

export function renderThread() {
  $("thread").hidden = !place.thread;
  $("app").classList.toggle("with-thread", Boolean(place.thread));
  if (!place.thread) return;
  const root = (state.messages[place.channel] ?? []).find((message) => message.ts === place.thread);
  const list = $("replies");
  const mine = notices().filter((one) => one.thread_ts === place.thread);
  const items = [...(root ? [root] : []), ...inOrder([...repliesTo(place.thread), ...mine])].map((message) => messageItem(message, true));
  const gone = { key: "gone", drawn: "", build: () => h("p", { class: "empty" }, "This conversation is not here any more.") };
  follow(list, place.thread, () => reconcile(list, items.length ? items : [gone]));
}
