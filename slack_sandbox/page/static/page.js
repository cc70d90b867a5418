// The page of the local workspace: draws the server's state, and sends what a person does.
//
// The server sends its whole state with every change. The page keeps only what the server can't know:
// what is open (in the address), what is typed, and which click is running.
// Data becomes text nodes and checked attributes, never HTML, so that an agent's text can't run code.
// Block Kit: https://docs.slack.dev/reference/block-kit; mrkdwn: https://docs.slack.dev/messaging/formatting-message-text

import { say, toast } from "./acting.js";
import { renderAlone } from "./alone.js";
import { enterHome, HOME, homePlace, renderHome } from "./home.js";
import { openThreadOfReply, renderMessages, renderThread, showOnce } from "./messages.js";
import { renderModal } from "./modals.js";
import { $, address, channel, FIRST_USER, go, h, nameOf, onChange, people, place, readPlace, setState, state } from "./place.js";
import { renderSidebar } from "./sidebar.js";
import { inside } from "./text.js";

const ASK = "C0ASK"; // the channel that the agent reads
const RETRY_MS = 2000;
const drafts = new Map(); // channel -> unsent text

// ---------------------------------------------------------------- the frame

function renderFrame() {
  const here = place.channel === HOME ? homePlace() : channel(place.channel);
  const asking = state.agent.asks;
  const inAsk = place.channel === ASK;
  const name = here.is_im ? nameOf(here.im_user) : here.name; // of the Home tab: the app's
  const where = `${here.is_im ? "" : "#"}${name}`;
  $("title").replaceChildren(here.is_im ? "" : h("span", { "aria-hidden": "true" }, "# "), name);
  $("topic").textContent = here.is_member ? (here.topic ?? "") : `${nameOf(place.user)} is not a member of this channel`;
  $("messages").setAttribute("aria-label", place.channel === HOME ? "Home" : `Messages in ${where}`);
  $("ask").hidden = inAsk || !asking || place.channel === HOME;
  $("composer").hidden = $("reply").hidden = !here.can_write;
  const prompt = inAsk && asking ? "Ask the agent, e.g. refund order 1042" : `Message ${here.is_im ? "" : "the people in "}${where}`;
  const [box] = $("composer").elements;
  box.placeholder = prompt;
  box.setAttribute("aria-label", prompt);
  if (box.dataset.channel !== place.channel) {
    drafts.set(box.dataset.channel, box.value);
    box.value = drafts.get(place.channel) ?? "";
    box.dataset.channel = place.channel;
  }
  document.title = `${where} · ${nameOf(place.user)} · ${state.team.name}`;
}

function render(moved = false) {
  if (!state) return;
  if (place.only) return renderAlone();
  if (moved) drawer(false);
  const inHome = place.channel === HOME && state.home_enabled;
  if (!inHome && !channel(place.channel)) place.channel = state.channels[0].id;
  if (inHome && moved) enterHome();
  openThreadOfReply();
  renderFrame();
  if (inHome) renderHome();
  else renderMessages();
  renderThread();
  renderSidebar();
  renderModal();
  showOnce();
}

/** The sidebar of a phone. */
function drawer(open) {
  $("sidebar").classList.toggle("open", open);
  $("menu").setAttribute("aria-expanded", String(open));
  if (open) $("sidebar").querySelector("a").focus();
}

function wire() {
  for (const box of document.querySelectorAll(".composer textarea"))
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      box.form.requestSubmit();
    });
  const onSubmit = (id, send) => $(id).addEventListener("submit", (event) => { event.preventDefault(); send($(id)); });
  onSubmit("composer", (form) => say(form, { channel: place.channel }));
  onSubmit("reply", (form) => say(form, { channel: place.channel, thread_ts: place.thread }));
  onSubmit("ask", (form) => say(form, { channel: ASK }, (ts) =>
    toast("You asked the agent.", "status", inside({ channel: ASK, ts }, "Open the conversation"))));
  $("acting").addEventListener("change", () => location.assign(address({ ...place, user: $("acting").value, ts: null })));
  $("thread-close").addEventListener("click", () => go({}));
  $("menu").addEventListener("click", () => drawer(true));
  $("veil").addEventListener("click", () => drawer(false));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open], :popover-open")) return;
    if ($("sidebar").matches(".open")) { drawer(false); $("menu").focus(); }
    else if (place.thread) go({});
  });
  addEventListener("popstate", () => { Object.assign(place, readPlace()); render(true); });
  document.addEventListener("visibilitychange", () => render());
}

// ---------------------------------------------------------------- the connection

function bar(message) {
  $("bar").hidden = !message;
  $("bar").textContent = message ?? "";
}

function listen() {
  const stream = new EventSource(`/sandbox/stream?user=${encodeURIComponent(place.user)}`);
  stream.onopen = () => bar(null);
  stream.onmessage = (event) => setState(JSON.parse(event.data));
  stream.onerror = () => {
    bar("Reconnecting…");
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, RETRY_MS); // it gives up after an HTTP error
  };
}

async function start() {
  let first = null;
  try {
    const response = await fetch(`/sandbox/state?user=${encodeURIComponent(place.user)}`);
    if (response.ok) first = await response.json();
  } catch {
    // the server is not up yet; listen() shows that and tries again
  }
  const unknown = first && place.user !== FIRST_USER && !first.users.some((user) => user.id === place.user && !user.is_bot && !user.deleted);
  if (unknown) return location.replace(address({ ...place, user: FIRST_USER }));
  if (!place.only) history.replaceState(null, "", address({ ...place, ts: null }));
  onChange(render);
  setState(first);
  if (place.channel === HOME && !place.only) enterHome();
  listen();
}

/** The colours that the address asks for, and nothing but #alone where it asks for one thing. */
function dress() {
  if (["light", "dark"].includes(place.theme)) document.documentElement.dataset.theme = place.theme;
  if (!place.only) return;
  document.documentElement.dataset.only = place.only;
  $("app").hidden = $("toasts").hidden = true;
  $("alone").hidden = false;
}

dress();
wire();
start();
