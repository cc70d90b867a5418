// The page of the local Teams: shows the server's state, and sends what a person does.
//
// The server sends its whole state with every change. The page keeps only what the server can't know: what is
// open (in the address), what is typed, and what the bot answered to a press. Data becomes text nodes.

import { drawCard } from "./cards.js";
import { $, address, conversation, go, h, onChange, place, post, readPlace, redraw, setState, state } from "./place.js";

const RETRY_MS = 2000;
const drawn = new Map(); // message id -> {as, node}

function render() {
  if (place.only) return renderAlone();
  if (!conversation()) place.conversation = state.conversations.find((one) => one.has_app)?.id ?? state.conversations[0]?.id;
  renderSidebar();
  renderMessages();
}

// ---------------------------------------------------------------- the frame

function renderSidebar() {
  $("tenant").textContent = state.tenant;
  list("chats", state.conversations.filter((one) => one.type !== "channel"));
  list("channels", state.conversations.filter((one) => one.type === "channel"));
  $("acting").replaceChildren(...state.users.map((user) => h("option", { value: user.id, selected: user.id === state.me }, user.name)));
}

function list(id, rows) {
  $(id).hidden = $(`${id}-title`).hidden = rows.length === 0;
  $(id).replaceChildren(...rows.map((one) => {
    const isHere = one.id === place.conversation;
    const newest = state.messages[one.id]?.at(-1);
    if (isHere && newest && !document.hidden) localStorage.setItem(seenKey(one), newest.at);
    const isUnread = !isHere && newest && newest.sender !== state.me && newest.at > Number(localStorage.getItem(seenKey(one)));
    const onclick = (event) => { event.preventDefault(); drawer(false); go({ conversation: one.id }); };
    return h("li", {}, h("a", {
      href: address({ ...place, conversation: one.id, message: null }), onclick,
      class: [isUnread && "unread", !one.has_app && "outside"].filter(Boolean).join(" "), "aria-current": isHere && "page",
    }, one.name, isUnread && h("span", { class: "hidden" }, " unread")));
  }));
}

const seenKey = (one) => `seen ${state.me} ${one.id}`;

function renderMessages() {
  const here = conversation();
  $("title").textContent = here?.name ?? "No conversation";
  document.title = `${here?.name ?? "Teams"} · ${nameOf(state.me)}`;
  const box = $("composer").elements[0];
  const prompt = place.message ? "Reply…" : here?.type === "channel" ? "Start a post" : "Type a message";
  box.placeholder = prompt;
  box.setAttribute("aria-label", prompt);
  const messages = state.messages[here?.id] ?? [];
  const items = messages.filter((one) => !one.root || one.root === one.id).flatMap((one) => [
    message(one), ...messages.filter((reply) => reply.root === one.id && reply.id !== one.id).map((reply) => message(reply, true)),
    here.type === "channel" && replyButton(one),
  ]).filter(Boolean);
  const log = $("messages");
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40 || log.dataset.shown !== here?.id;
  sync(log, items.length ? items : [h("p", { class: "empty" }, "No messages yet.")]);
  log.dataset.shown = here?.id;
  if (atEnd) log.scrollTop = log.scrollHeight;
}

function replyButton(root) {
  const onclick = () => { go({ message: root.id }); $("composer").elements[0].focus(); };
  return h("button", { type: "button", class: "link", "aria-pressed": String(place.message === root.id), onclick }, "Reply");
}

/** Makes `nodes` the children of `parent`. A node that is already in its place is not moved, so it keeps the focus. */
function sync(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, at) => { if (parent.children[at] !== node) parent.insertBefore(node, parent.children[at] ?? null); });
}

/** The node of a message: the same one until the message changes, so that what is typed stays. */
function message(one, isReply = false) {
  const as = JSON.stringify([one, isReply]);
  if (drawn.get(one.id)?.as !== as) drawn.set(one.id, { as, node: drawMessage(one, isReply) });
  return drawn.get(one.id).node;
}

function drawMessage(one, isReply = false) {
  const when = new Date(one.at * 1000);
  return h("article", { class: `message${isReply ? " reply" : ""}${one.bot ? " bot" : ""}${one.sender === state.me ? " mine" : ""}`, "data-id": one.id },
    h("span", { class: "avatar", "aria-hidden": "true" }, one.name.slice(0, 1)),
    h("div", { class: "main" },
      h("p", { class: "by" }, h("strong", {}, one.name), h("time", { datetime: when.toISOString() }, when.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" })),
        one.edited && h("span", {}, "Edited"), one.private && h("span", {}, "Only you see it like this")),
      one.deleted ? h("p", { class: "empty" }, "This message has been deleted.") : [
        one.text && h("p", { class: "text" }, one.text), one.card && drawCard(one), one.consent && drawConsent(one),
        one.files.map((file) => h("p", { class: "card file" }, h("strong", {}, file), " is in your OneDrive."))]));
}

/** The question whether a person wants a file. */
function drawConsent(one) {
  const { name, size, description } = one.consent;
  const answer = async (action) => {
    const reply = await post("file", { conversation: one.conversation, message: one.id, action });
    bar(reply.ok ? null : reply.error);
  };
  return h("div", { class: "card file" }, h("p", {}, h("strong", {}, name), ` ${size.toLocaleString("en-US")} bytes`), h("p", {}, description),
    h("button", { type: "button", onclick: () => answer("accept") }, "Allow"), " ",
    h("button", { type: "button", onclick: () => answer("decline") }, "Decline"));
}

const nameOf = (id) => state.users.find((user) => user.id === id)?.name ?? id;

function renderAlone() {
  const found = (state.messages[place.conversation] ?? []).filter((one) => [one.id, one.root].includes(place.message));
  $("alone").replaceChildren(...found.map((one) => drawMessage(one, one.id !== place.message)));
}

/** The sidebar of a phone. */
function drawer(open) {
  $("sidebar").classList.toggle("open", open);
  $("menu").setAttribute("aria-expanded", String(open));
}

function wire() {
  const box = $("composer").elements[0];
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    box.form.requestSubmit();
  });
  $("composer").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!box.value.trim()) return;
    const answer = await post("say", { conversation: place.conversation, text: box.value.trim(), root: place.message });
    if (answer.ok) box.value = "";
    bar(answer.ok ? null : answer.error);
  });
  $("acting").addEventListener("change", () => location.assign(address({ ...place, user: $("acting").value, message: null })));
  $("menu").addEventListener("click", () => drawer(true));
  $("veil").addEventListener("click", () => drawer(false));
  addEventListener("popstate", () => { Object.assign(place, readPlace()); redraw(); });
  const repaint = () => { drawn.clear(); redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

function bar(text) {
  $("bar").hidden = !text;
  $("bar").textContent = text ?? "";
}

function listen() {
  const stream = new EventSource(`/sandbox/stream?user=${encodeURIComponent(place.user ?? "")}`);
  stream.onopen = () => bar(null);
  stream.onmessage = (event) => setState(JSON.parse(event.data));
  stream.onerror = () => {
    bar("Reconnecting…");
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, RETRY_MS); // it gives up after an HTTP error
  };
}

if (["light", "dark"].includes(place.theme)) document.documentElement.dataset.theme = place.theme;
if (place.only) {
  document.documentElement.dataset.only = place.only;
  $("app").hidden = true;
  $("alone").hidden = false;
}
onChange(render);
wire();
listen();
