// The page of the local workspace: draws the server's state, and sends what a person does.
//
// The server's state is the truth and comes whole with every change; the page keeps only what the
// server cannot know: where one looks (in the address), what is typed, and which click is under way.
// Data becomes text nodes and checked attributes, never HTML, so that an agent's text stays inert.
// Block Kit: https://docs.slack.dev/reference/block-kit; mrkdwn: https://docs.slack.dev/messaging/formatting-message-text

const ASK = "C0ASK"; // the channel that the agent reads
const FIRST_USER = "U0ALICE";
const FIRST_CHANNEL = "C0APPROVE";
const TROUBLE = "We had some trouble connecting. Try again?"; // Slack's words for a click that failed
const TOAST_MS = 8000;
const RETRY_MS = 2000;

const $ = (id) => document.getElementById(id);

let state = null; // the newest from the server
const place = readPlace(); // {user, channel, thread, ts}: ts is a message to show once
const busy = new Set(); // keys of the elements whose click is under way
const closing = new Set(); // ids of views that the server was told to close
const forms = new Map(); // view id -> {drawn, node}: each open view's form, with what is typed in it
const reads = new WeakMap(); // a stateful element's node -> () => its typed value
const drawn = new WeakMap(); // a list's node -> Map(key -> {drawn, node})
const drafts = new Map(); // channel -> unsent text
let modal = null;
let lastClicked = null; // the key of the element to give the focus back to
let serial = 0;

/** Make an element. Strings become text nodes; `null` and `false` are left out. */
function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// ---------------------------------------------------------------- where one looks

function readPlace() {
  const query = new URLSearchParams(location.search);
  const [, channel, ts] = location.hash.match(/^#(\w+)\/([\d.]+)$/) ?? []; // where a permalink leads
  return {
    user: query.get("user") || FIRST_USER,
    channel: channel ?? (query.get("channel") || FIRST_CHANNEL),
    thread: query.get("thread"),
    ts: ts ?? query.get("ts"),
  };
}

function address(where) {
  const kept = Object.entries({ ...where }).filter(([, value]) => value);
  return `?${new URLSearchParams(kept)}`;
}

function go(where) {
  drawer(false);
  Object.assign(place, { thread: null, ts: null }, where);
  history.pushState(null, "", address({ ...place, ts: null }));
  render();
}

const people = () => state.users.filter((user) => !user.is_bot && !user.deleted);
const person = (id) => state.users.find((user) => user.id === id);
const channel = (id) => state.channels.find((one) => one.id === id);
const nameOf = (id) => person(id)?.real_name || person(id)?.name || id;

// ---------------------------------------------------------------- text

const EMOJI = {
  __proto__: null, "+1": "👍", "-1": "👎", alarm_clock: "⏰", arrow_right: "➡️", bell: "🔔", bulb: "💡", bust_in_silhouette: "👤",
  busts_in_silhouette: "👥", email: "📧", envelope: "✉️", exclamation: "❗", eyes: "👀", fire: "🔥", gear: "⚙️",
  heavy_check_mark: "✔️", heavy_multiplication_x: "✖️", hourglass: "⌛", hourglass_flowing_sand: "⏳",
  information_source: "ℹ️", large_green_circle: "🟢", large_yellow_circle: "🟡", leftwards_arrow_with_hook: "↩️", link: "🔗", lock: "🔒", mag: "🔍",
  memo: "📝", money_with_wings: "💸", no_entry: "⛔", no_entry_sign: "🚫", package: "📦", page_facing_up: "📄",
  pencil: "📝", pencil2: "✏️", question: "❓", raised_hand: "✋", red_circle: "🔴", repeat: "🔁", robot_face: "🤖", rocket: "🚀",
  rotating_light: "🚨", shield: "🛡️", slightly_smiling_face: "🙂", smile: "😄", speech_balloon: "💬", stopwatch: "⏱️",
  tada: "🎉", thumbsup: "👍", thumbsdown: "👎", unlock: "🔓", warning: "⚠️", wave: "👋", white_check_mark: "✅", white_circle: "⚪",
  wrench: "🔧", x: "❌",
};
const emoji = (name) => EMOJI[name] ?? `:${name}:`;
const withEmoji = (text) => text.replace(/:([a-z0-9_+-]+):/g, (_, name) => emoji(name));
const unescaped = (text) => text.replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&" })[name]);

/** A text object as nodes: plain_text literally, mrkdwn as Slack reads it. */
function text(object) {
  if (!object) return [];
  if (object.type === "mrkdwn") return mrkdwn(object.text);
  return [object.emoji ? withEmoji(object.text) : object.text];
}

const plain = (object) => text(object).join("");

function mrkdwn(source) {
  return source.split(/\n?```\n?([\s\S]+?)\n?```\n?/).flatMap((part, i) => (i % 2 ? h("pre", {}, unescaped(part)) : quotes(part)));
}

function quotes(source) {
  return source.split(/(^(?:&gt;|>).*(?:\n(?:&gt;|>).*)*\n?)/m).flatMap((part, i) =>
    i % 2 ? h("blockquote", {}, inline(part.replace(/^(?:&gt;|>) ?/gm, "").trimEnd())) : inline(part),
  );
}

// *bold* and its like: the mark stands at the edges of words, and no space stands inside it
const span = (mark) =>
  String.raw`(?<![\p{L}\p{N}${mark}])${mark}(?![\s${mark}])([^${mark}\n]*?[^\s${mark}])${mark}(?![\p{L}\p{N}${mark}])`;
const MARK = new RegExp(["`([^`\n]+)`", "<([^<>\n]+)>", span("\\*"), span("_"), span("~"), ":([a-z0-9_+-]+):"].join("|"), "gu");

function inline(source) {
  const nodes = [];
  let end = 0;
  for (const match of source.matchAll(MARK)) {
    const [whole, code, entity, bold, italic, strike, shortcode] = match;
    if (match.index > end) nodes.push(unescaped(source.slice(end, match.index)));
    end = match.index + whole.length;
    if (code) nodes.push(h("code", {}, unescaped(code)));
    else if (entity) nodes.push(reference(entity));
    else if (bold) nodes.push(h("strong", {}, inline(bold)));
    else if (italic) nodes.push(h("em", {}, inline(italic)));
    else if (strike) nodes.push(h("s", {}, inline(strike)));
    else nodes.push(emoji(shortcode));
  }
  if (end < source.length) nodes.push(unescaped(source.slice(end)));
  return nodes;
}

/** What stands between < and >: a mention, a channel, a date or a link. */
function reference(body) {
  const bar = body.indexOf("|");
  const target = bar < 0 ? body : body.slice(0, bar);
  const label = bar < 0 ? "" : unescaped(body.slice(bar + 1));
  if (target.startsWith("@")) return mention(target.slice(1));
  if (target.startsWith("#")) return channelLink(target.slice(1), label);
  if (target.startsWith("!subteam^")) return h("span", { class: "mention" }, `@${label.replace(/^@/, "") || target.slice(9)}`);
  if (target.startsWith("!date^")) {
    const [, epoch, format] = target.split("^");
    return date(Number(epoch), format, label);
  }
  if (target.startsWith("!")) return h("span", { class: "mention" }, `@${target.slice(1)}`);
  return link(unescaped(target), label);
}

const mention = (id) => h("span", { class: id === place.user ? "mention mine" : "mention" }, `@${nameOf(id)}`);

function channelLink(id, label) {
  const known = channel(id);
  if (!known) return h("span", { class: "mention" }, `#${label || id}`);
  return inside({ channel: id }, `#${known.name}`, "mention");
}

/** A link to a place in this page, that a new tab can open as well. */
function inside(where, label, style) {
  const onclick = (event) => {
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(where);
  };
  return h("a", { class: style, href: address({ user: place.user, ...where }), onclick }, label);
}

function link(url, label) {
  const permalink = url.match(/\/archives\/(\w+)\/p(\d{10})(\d{6})(?:\?(?:.*&)?thread_ts=([\d.]+))?/);
  if (permalink && channel(permalink[1])) {
    const ts = `${permalink[2]}.${permalink[3]}`;
    return inside({ channel: permalink[1], ts, thread: permalink[4] ?? null }, label || url);
  }
  if (!/^(https?|mailto):/i.test(url)) return h("span", {}, label || url);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, label || url);
}

function date(epoch, format, fallback) {
  const when = new Date(epoch * 1000);
  if (Number.isNaN(when.getTime())) return h("span", {}, fallback);
  const day = (options) => when.toLocaleDateString([], options);
  const long = { year: "numeric", month: "long", day: "numeric" };
  const short = { ...long, month: "short" };
  const tokens = {
    __proto__: null,
    date_num: when.toLocaleDateString("sv"), date: day(long), date_short: day(short), date_long: day({ ...long, weekday: "long" }),
    date_pretty: pretty(when) ?? day(long), date_short_pretty: pretty(when) ?? day(short),
    date_long_pretty: pretty(when) ?? day({ ...long, weekday: "long" }),
    time: clock(when), time_secs: when.toLocaleTimeString(),
  };
  const words = (format || "{date_short_pretty}, {time}").replace(/\{(\w+)\}/g, (whole, token) => tokens[token] ?? whole);
  return h("time", { datetime: when.toISOString(), title: when.toLocaleString() }, words);
}

const clock = (when) => when.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });

function pretty(when) {
  const days = Math.round((new Date(when).setHours(0, 0, 0, 0) - new Date().setHours(0, 0, 0, 0)) / 86_400_000);
  return { "-1": "Yesterday", 0: "Today", 1: "Tomorrow" }[days];
}

// ---------------------------------------------------------------- rich text

function richBlock(element) {
  switch (element.type) {
    case "rich_text_section":
      return h("div", { class: "rich" }, element.elements.map(richInline));
    case "rich_text_preformatted":
      return h("pre", {}, element.elements.map(richInline));
    case "rich_text_quote":
      return h("blockquote", {}, element.elements.map(richInline));
    case "rich_text_list": {
      const list = element.style === "ordered" ? h("ol", { start: (element.offset ?? 0) + 1 }) : h("ul");
      list.classList.add(`indent-${Math.min(element.indent ?? 0, 8)}`);
      list.append(...element.elements.map((item) => h("li", {}, item.elements.map(richInline))));
      return list;
    }
    default:
      return unsupported(element.type);
  }
}

function richInline(element) {
  const style = element.style ?? {};
  let node = richLeaf(element);
  for (const [name, tag] of [["code", "code"], ["strike", "s"], ["italic", "em"], ["bold", "strong"]])
    if (style[name]) node = h(tag, {}, node);
  return node;
}

function richLeaf(element) {
  switch (element.type) {
    case "text": return element.text;
    case "link": return link(element.url, element.text);
    case "user": return mention(element.user_id);
    case "usergroup": return h("span", { class: "mention" }, `@${element.usergroup_id}`);
    case "broadcast": return h("span", { class: "mention" }, `@${element.range}`);
    case "channel": return channelLink(element.channel_id);
    case "emoji": return EMOJI[element.name] ?? fromCodePoints(element.unicode) ?? `:${element.name}:`;
    case "date": return date(element.timestamp, element.format, element.fallback ?? "");
    default: return unsupported(element.type);
  }
}

function fromCodePoints(hex) {
  return hex ? String.fromCodePoint(...hex.split("-").map((point) => parseInt(point, 16))) : undefined;
}

// ---------------------------------------------------------------- blocks

// `context` says where blocks stand: {channel, ts} or {view_id}, and `values`, what was typed before a redraw.

const BLOCKS = {
  __proto__: null,
  header: (block) => h("h3", {}, text(block.text)),
  divider: () => h("hr"),
  rich_text: (block) => h("div", {}, block.elements.map(richBlock)),
  image: (block) => h("figure", {}, block.title && h("figcaption", {}, text(block.title)), image(block)),
  actions: (block, context) => h("div", {}, block.elements.map((element) => control(element, block, context))),
  context: (block) =>
    h("div", {}, block.elements.map((element) => (element.type === "image" ? image(element) : h("span", {}, text(element))))),
  section: (block, context) =>
    h(
      "div",
      {},
      h("div", { class: "body" },
        block.text && h("div", { class: "rich" }, text(block.text)),
        block.fields && h("div", { class: "fields" }, block.fields.map((field) => h("div", {}, text(field)))),
      ),
      block.accessory && (block.accessory.type === "image" ? image(block.accessory) : control(block.accessory, block, context)),
    ),
  input: inputBlock,
};

function blocks(list, context) {
  return list.map((block) => {
    const node = BLOCKS[block.type]?.(block, context) ?? unsupported(block.type);
    node.classList.add("block", `block-${block.type.replace(/[^a-z_]/g, "")}`);
    node.dataset.blockId = block.block_id;
    return node;
  });
}

const unsupported = (type) => h("div", { class: "unsupported" }, `unsupported block: ${type}`);

function image(element) {
  const source = element.image_url ?? element.slack_file?.url ?? "";
  return h("img", { src: /^https?:/i.test(source) && source, alt: element.alt_text ?? "", title: element.alt_text });
}

function inputBlock(block, context) {
  const id = `input-${++serial}`;
  const node = control(block.element, block, context);
  const group = node.matches("fieldset");
  const note = block.optional && h("span", { class: "optional" }, " (optional)");
  if (group) node.prepend(h("legend", {}, text(block.label), note));
  else node.id = id;
  node.setAttribute("aria-describedby", `${id}-error ${id}-hint`);
  if (!block.optional && !group) node.setAttribute("aria-required", "true");
  return h(
    "div",
    {},
    !group && h("label", { for: id }, text(block.label), note),
    node,
    h("p", { class: "error", id: `${id}-error`, role: "alert" }),
    block.hint && h("p", { class: "hint", id: `${id}-hint` }, text(block.hint)),
  );
}

// ---------------------------------------------------------------- elements

const TEXT_INPUTS = { __proto__: null, plain_text_input: "text", number_input: "text", email_text_input: "email", url_text_input: "url" };
const PICKERS = { __proto__: null, datepicker: ["date", "selected_date", "initial_date"], timepicker: ["time", "selected_time", "initial_time"] };

/** One interactive element: drawn, named for tests and redraws, and wired to send its click. */
function control(element, block, context) {
  const key = [context.ts ?? context.view_id, block.block_id, element.action_id].join("/");
  const before = context.values?.[block.block_id]?.[element.action_id];
  const kept = before?.type === element.type ? before : undefined;
  const acts = block.type !== "input" || block.dispatch_action;
  const act = (extra) => acts && click(key, element, block, context, extra);
  const node = drawElement(element, kept, act, block);
  if (!node) return unsupported(element.type);
  const target = node.querySelector(":scope > button") ?? node;
  if (reads.has(node) && block.type !== "input") node.setAttribute("aria-label", plain(element.placeholder) || "Select");
  target.dataset.actionId = element.action_id;
  target.dataset.key = key;
  if (busy.has(key)) setBusy(target, true);
  return node;
}

function drawElement(element, kept, act, block) {
  if (element.type in TEXT_INPUTS) return textInput(element, kept, act, block);
  if (element.type in PICKERS) return picker(element, kept, act);
  switch (element.type) {
    case "button": return button(element, act);
    case "overflow": return overflow(element, act);
    case "static_select": return select(element, kept, act);
    case "radio_buttons": return choices(element, "radio", kept, act);
    case "checkboxes":
    case "multi_static_select": return choices(element, "checkbox", kept, act);
    default: return null;
  }
}

function button(element, act) {
  const onclick = () => {
    act();
    if (/^https?:/i.test(element.url ?? "")) window.open(element.url, "_blank", "noopener,noreferrer");
  };
  const style = `button ${element.style ?? ""}`;
  return h("button", { type: "button", class: style, "aria-label": element.accessibility_label, onclick }, text(element.text));
}

function overflow(element, act) {
  const items = element.options.map((option, index) =>
    h("button", { type: "button", role: "menuitem", tabindex: "-1", onclick: () => { menu.hidePopover(); act({ option: index }); } },
      text(option.text), option.description && h("small", {}, text(option.description))),
  );
  const menu = h("div", { class: "menu", role: "menu", popover: "auto" }, items);
  const opener = h("button", { type: "button", class: "button more", "aria-label": "More actions", "aria-haspopup": "menu" }, "⋮");
  opener.popoverTargetElement = menu;
  menu.addEventListener("beforetoggle", (event) => {
    if (event.newState === "open" && opener.matches("[aria-disabled]")) event.preventDefault();
  });
  menu.addEventListener("toggle", (event) => {
    if (event.newState !== "open") return;
    besides(menu, opener);
    items[0].focus();
  });
  menu.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Tab") menu.hidePopover();
    if (!step) return;
    event.preventDefault();
    items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
  });
  return h("span", { class: "overflow" }, opener, menu);
}

/** Put a menu under its button, or over it where there is no room; always inside the window. */
function besides(menu, opener) {
  const box = opener.getBoundingClientRect();
  const below = box.bottom + menu.offsetHeight + 8 < innerHeight;
  menu.style.top = `${below ? box.bottom + 4 : Math.max(8, box.top - menu.offsetHeight - 4)}px`;
  menu.style.left = `${Math.max(8, Math.min(box.left, innerWidth - menu.offsetWidth - 8))}px`;
}

const optionsOf = (element) => element.options ?? element.option_groups?.flatMap((group) => group.options) ?? [];

function select(element, kept, act) {
  const options = optionsOf(element);
  const chosen = kept ? kept.selected_option : element.initial_option;
  const items = options.map((option, index) => h("option", { value: index, selected: option.value === chosen?.value }, plain(option.text)));
  let from = 0;
  const grouped = element.option_groups?.map((group) =>
    h("optgroup", { label: plain(group.label) }, items.slice(from, (from += group.options.length))));
  const node = h("select", {},
    h("option", { value: "" }, plain(element.placeholder) || "Select an option"), grouped ?? items);
  let last = node.value;
  node.addEventListener("change", async () => {
    const refused = node.value !== "" && (await act({ option: Number(node.value) })) === false;
    if (refused) node.value = last;
    last = node.value;
  });
  reads.set(node, () => ({ type: element.type, selected_option: options[node.value] ?? null }));
  return node;
}

/** Radio buttons, checkboxes, and a multi select drawn as a list of checkboxes. */
function choices(element, kind, kept, act) {
  const options = optionsOf(element);
  const chosen = kept ?? { selected_option: element.initial_option, selected_options: element.initial_options };
  const values = new Set([chosen.selected_option, ...(chosen.selected_options ?? [])].map((option) => option?.value));
  const name = `choice-${++serial}`;
  const inputs = options.map((option, index) => {
    const onchange = () => act({ option: kind === "radio" ? index : checked() });
    return h("input", { type: kind, name, value: index, checked: values.has(option.value), onchange });
  });
  const checked = () => inputs.flatMap((input, index) => (input.checked ? [index] : []));
  const rows = options.map((option, index) =>
    h("label", {}, inputs[index],
      h("span", {}, text(option.text), option.description && h("small", {}, text(option.description)))));
  const node = h("fieldset", { class: `choices ${element.type}` }, h("div", {}, rows));
  reads.set(node, () => {
    const picked = checked().map((index) => options[index]);
    return kind === "radio"
      ? { type: element.type, selected_option: picked[0] ?? null }
      : { type: element.type, selected_options: picked };
  });
  return node;
}

function textInput(element, kept, act, block) {
  const attributes = { placeholder: plain(element.placeholder) || null, autocomplete: "off" };
  const node = element.multiline
    ? h("textarea", { ...attributes, rows: 5 })
    : h("input", { ...attributes, type: TEXT_INPUTS[element.type], inputmode: element.type === "number_input" && "decimal" });
  node.value = (kept ? kept.value : element.initial_value) ?? "";
  if (block.dispatch_action)
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || element.multiline) return;
      event.preventDefault();
      act({ value: node.value });
    });
  reads.set(node, () => ({ type: element.type, value: node.value === "" ? null : node.value }));
  return node;
}

function picker(element, kept, act) {
  const [type, field, initial] = PICKERS[element.type];
  const node = h("input", { type, onchange: () => node.value && act({ value: node.value }) });
  node.value = (kept ? kept[field] : element[initial]) ?? "";
  reads.set(node, () => ({ type: element.type, [field]: node.value || null }));
  return node;
}

/** What is typed under `root`, in the shape of Slack's state.values. */
function gather(root) {
  const values = {};
  for (const node of root.querySelectorAll("[data-action-id]")) {
    if (!reads.has(node)) continue;
    const block = node.closest("[data-block-id]").dataset.blockId;
    (values[block] ??= {})[node.dataset.actionId] = reads.get(node)();
  }
  return values;
}

// ---------------------------------------------------------------- what a person does

async function post(what, body) {
  try {
    const response = await fetch(`/sandbox/${what}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ user: place.user, ...body }),
    });
    const answer = await response.json();
    return answer.ok || answer.errors || answer.error ? answer : { ok: false, error: TROUBLE };
  } catch {
    return { ok: false, error: TROUBLE };
  }
}

const nodesOf = (key) => document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`);

function setBusy(node, on) {
  node.classList.toggle("busy", on);
  node.toggleAttribute("aria-busy", on);
  if (node.matches("button")) on ? node.setAttribute("aria-disabled", "true") : node.removeAttribute("aria-disabled");
  else node.disabled = on; // a button stays focusable, so that the focus is where it was when the answer comes
}

/** Send a click; false when it was refused, by the person in the confirm dialog or by the server. */
async function click(key, element, block, context, extra = {}) {
  if (busy.has(key)) return false;
  const clicked = nodesOf(key)[0];
  if (element.confirm && !(await confirmed(element.confirm))) return false;
  const root = clicked.closest(".message, form");
  const { values, ...where } = context;
  const body = { ...where, block_id: block.block_id, action_id: element.action_id, ...extra, state: gather(root) };
  lastClicked = key;
  busy.add(key);
  nodesOf(key).forEach((node) => { setBusy(node, true); trouble(node, null); });
  const answer = await post("click", body);
  busy.delete(key);
  nodesOf(key).forEach((node) => { setBusy(node, false); trouble(node, answer.ok ? null : answer.error); });
  if (!answer.ok) toast(answer.error, "alert");
  return answer.ok;
}

/** Slack's warning triangle beside the element whose click failed. */
function trouble(node, message) {
  const beside = node.closest(".overflow") ?? node;
  if (beside.nextElementSibling?.matches(".trouble")) beside.nextElementSibling.remove();
  if (message) beside.after(h("span", { class: "trouble", role: "img", "aria-label": message, title: message }, "⚠"));
}

function confirmed(confirm) {
  return new Promise((resolve) => {
    const answer = (yes) => { dialog.close(); dialog.remove(); resolve(yes); };
    const id = `confirm-${++serial}`;
    const oncancel = (event) => { event.preventDefault(); answer(false); };
    const yes = { type: "button", class: `button ${confirm.style ?? "primary"}`, autofocus: true, onclick: () => answer(true) };
    const dialog = h(
      "dialog",
      { class: "modal confirm", role: "alertdialog", "aria-modal": "true", "aria-labelledby": id, oncancel },
      h("header", {}, h("h2", { id }, text(confirm.title))),
      h("div", { class: "content" }, text(confirm.text)),
      h("footer", {},
        h("button", { type: "button", class: "button", onclick: () => answer(false) }, text(confirm.deny)),
        h("button", yes, text(confirm.confirm))),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

function toast(message, role, ...more) {
  const dismiss = h("button", { type: "button", class: "icon", "aria-label": "Dismiss", onclick: () => node.remove() }, "✕");
  const node = h("div", { class: `toast ${role}`, role }, h("span", {}, message, " ", more), dismiss);
  hostToasts();
  $("toasts").append(node);
  setTimeout(() => node.remove(), TOAST_MS);
}

/** A modal makes everything outside itself inert, so the toasts live inside it while it is open. */
function hostToasts() {
  const host = modal ?? document.body;
  if ($("toasts").parentNode !== host) host.append($("toasts"));
}

async function say(form, where, done) {
  const [box] = form.elements;
  const words = box.value.trim();
  if (!words || form.matches(".busy")) return;
  form.classList.add("busy");
  const answer = await post("say", { ...where, text: words });
  form.classList.remove("busy");
  if (!answer.ok) return toast(answer.error, "alert");
  box.value = "";
  done?.(answer.ts);
}

// ---------------------------------------------------------------- messages

/** Make the children of `parent` the `items`, {key, drawn, build}, touching only what changed. */
function reconcile(parent, items) {
  const before = drawn.get(parent) ?? new Map();
  const after = new Map();
  const keys = new Set(items.map((item) => item.key));
  for (const [key, old] of before) if (!keys.has(key)) old.node.remove();
  items.forEach((item, index) => {
    const old = before.get(item.key);
    const same = old?.drawn === item.drawn;
    const node = same ? old.node : item.build(old?.node);
    if (old && !same) swap(old.node, node);
    else if (!old) parent.insertBefore(node, parent.children[index] ?? null);
    after.set(item.key, { drawn: item.drawn, node });
  });
  drawn.set(parent, after);
}

/** Replace a node by its redrawn self, and keep the focus, and the caret, where they were. */
function swap(old, node) {
  const active = document.activeElement;
  const held = old.contains(active) ? (active.closest("[data-key]")?.dataset.key ?? "") : null;
  const caret = held && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
  const scrolled = old.querySelector(".content")?.scrollTop;
  old.replaceWith(node);
  if (scrolled) node.querySelector(".content").scrollTop = scrolled;
  if (held === null) return;
  const again = held && node.querySelector(`[data-key="${CSS.escape(held)}"]`);
  focusOn(again || (node.hasAttribute("tabindex") ? node : node.querySelector("a, input, button")) || node);
  if (again && caret && caret[0] !== null) again.setSelectionRange(...caret);
}

function focusOn(node) {
  const inner = node.matches("fieldset") ? (node.querySelector("input:checked") ?? node.querySelector("input")) : node;
  inner?.focus({ preventScroll: true });
}

const isReply = (message) => message.thread_ts && message.thread_ts !== message.ts;
const repliesTo = (ts) => (state.messages[place.channel] ?? []).filter((message) => isReply(message) && message.thread_ts === ts);

function renderMessages() {
  const list = $("messages");
  const top = (state.messages[place.channel] ?? []).filter((message) => !isReply(message));
  const mine = notices().filter((one) => !one.thread_ts || one.thread_ts !== place.thread);
  const items = top.length + mine.length ? withDays(inOrder([...top, ...mine])) : [emptyItem()];
  follow(list, place.channel, () => reconcile(list, items));
}

/** My notices in this channel. One of a thread stands in the thread while that is open. */
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

function drawMessage(message, replies, inThread, old) {
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
      message.ephemeral && h("button", { type: "button", class: "link", onclick: () => dismiss(message.id) }, "Dismiss"),
      !message.ephemeral && !inThread && h("button", { type: "button", class: `link thread${replies ? "" : " quiet"}`, onclick: open },
        replies ? `${replies} ${replies === 1 ? "reply" : "replies"}` : "Reply in thread")),
  );
}

const tint = (name) => [...name].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % 5;

async function dismiss(id) {
  const answer = await post("dismiss", { id });
  if (!answer.ok) toast(answer.error, "alert");
}

/** Redraw a list and stay where a reader expects: at its end if one was there, else where one was. */
function follow(list, shown, redraw) {
  const fresh = list.dataset.shown !== shown;
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  const lastSeen = list.lastElementChild;
  const sawLast = lastSeen ? lastSeen.getBoundingClientRect().top < list.getBoundingClientRect().bottom : true;
  const lastTs = lastSeen?.dataset.ts;
  redraw();
  list.dataset.shown = shown;
  const last = list.lastElementChild;
  const isNew = last?.dataset.ts !== lastTs;
  if (fresh || (sawLast && isNew)) last?.scrollIntoView({ block: last.offsetHeight > list.clientHeight ? "start" : "end" });
  else if (atEnd) list.scrollTop = list.scrollHeight;
}

/** A link to a reply leads into its thread. */
function openThreadOfReply() {
  const linked = place.ts && state.messages[place.channel]?.find((message) => message.ts === place.ts);
  if (linked && isReply(linked)) place.thread = linked.thread_ts;
}

function showOnce() {
  if (!place.ts) return;
  const list = place.thread ? $("replies") : $("messages");
  const node = list.querySelector(`.message[data-ts="${CSS.escape(place.ts)}"]`);
  place.ts = null;
  if (!node) return;
  node.scrollIntoView({ block: "start" });
  node.focus({ preventScroll: true });
  node.classList.add("flash");
}

function renderThread() {
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

// ---------------------------------------------------------------- modals

function renderModal() {
  const open = new Set(state.views.map((view) => view.id));
  for (const id of forms.keys()) if (!open.has(id)) forms.delete(id);
  const view = state.views.filter((one) => !closing.has(one.id)).at(-1);
  if (!view) return closeModal();
  const form = formOf(view);
  if (!modal) {
    modal = h("dialog", { class: "modal", role: "dialog", "aria-modal": "true", "aria-labelledby": "modal-title", oncancel: cancelModal });
    document.body.append(modal);
  }
  const other = form.parentNode !== modal;
  if (other) modal.replaceChildren(form);
  if (!modal.open) modal.showModal();
  if (other) focusFirst(form);
  hostToasts();
}

function cancelModal(event) {
  event.preventDefault();
  closeView(state.views.filter((one) => !closing.has(one.id)).at(-1)?.id);
}

function closeModal() {
  if (!modal) return;
  const gone = modal;
  modal = null;
  hostToasts();
  gone.close();
  gone.remove();
  if (document.activeElement === document.body && lastClicked) nodesOf(lastClicked)[0]?.focus({ preventScroll: true });
}

/** The form of a view: redrawn only when the view changed, with what was typed in inputs whose ids stay. */
function formOf(view) {
  const old = forms.get(view.id);
  const now = JSON.stringify([view.title, view.submit, view.close, view.blocks]);
  if (old?.drawn === now) return old.node;
  const node = drawForm(view, old && gather(old.node));
  forms.set(view.id, { drawn: now, node });
  if (old) {
    const fields = [...old.node.querySelectorAll(".block-input")];
    const errors = fields.map((field) => [field.dataset.blockId, field.querySelector(".error").textContent]);
    showErrors(node, Object.fromEntries(errors));
    if (old.node.parentNode) swap(old.node, node);
  }
  return node;
}

function drawForm(view, values) {
  const close = () => closeView(view.id);
  const form = h(
    "form",
    { novalidate: true, "data-view-id": view.id, onsubmit: (event) => { event.preventDefault(); submit(view.id); } },
    h("header", {},
      h("h2", { id: "modal-title" }, text(view.title)),
      h("button", { type: "button", class: "icon", "aria-label": "Close", onclick: close }, "✕")),
    h("div", { class: "content" }, blocks(view.blocks, { view_id: view.id, values })),
    h("footer", {},
      h("button", { type: "button", class: "button", onclick: close }, view.close ? text(view.close) : view.submit ? "Cancel" : "Close"),
      view.submit && h("button", { type: "submit", class: "button primary" }, text(view.submit))),
  );
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(view.id);
  });
  return form;
}

function focusFirst(form) {
  const first = form.querySelector(".content :is(input, select, textarea, button)") ?? form.querySelector("footer .primary, footer button");
  const radio = first.type === "radio" && first.closest("fieldset");
  focusOn(radio || first);
}

async function submit(id) {
  const form = forms.get(id).node;
  const button = form.querySelector("footer .primary");
  if (!button || form.matches(".busy")) return;
  form.classList.add("busy");
  setBusy(button, true);
  const answer = await post("submit", { view_id: id, values: gather(form) });
  form.classList.remove("busy");
  setBusy(button, false);
  const now = forms.get(id)?.node; // the view may have been redrawn, or closed, meanwhile
  if (answer.ok) {
    if (answer.closed) closing.add(id);
    if (now) showErrors(now, {});
    return render();
  }
  if (!now) return toast(answer.error ?? TROUBLE, "alert");
  const shown = showErrors(now, answer.errors ?? {});
  if (!answer.errors || shown < Object.keys(answer.errors).length) toast(answer.error ?? TROUBLE, "alert");
}

/** Put each error beside its field and the focus in the first; returns how many found their field. */
function showErrors(form, errors) {
  let shown = 0;
  for (const field of form.querySelectorAll(".block-input")) {
    const message = errors[field.dataset.blockId] ?? "";
    const node = field.querySelector("[data-action-id]");
    field.querySelector(".error").textContent = message;
    field.classList.toggle("wrong", message !== "");
    if (!message) node?.removeAttribute("aria-invalid");
    else {
      node?.setAttribute("aria-invalid", "true");
      if (shown++ === 0 && form.isConnected) {
        focusOn(node);
        field.scrollIntoView({ block: "nearest" });
      }
    }
  }
  return shown;
}

async function closeView(id) {
  if (!id) return;
  closing.add(id);
  render();
  const answer = await post("close", { view_id: id });
  if (answer.ok || !state.views.some((view) => view.id === id)) return; // gone, as was wished
  closing.delete(id);
  render();
  toast(answer.error, "alert");
}

// ---------------------------------------------------------------- the frame

const seenKey = (id) => `seen ${place.user} ${id}`;

function isUnread(id) {
  const seen = Number(localStorage.getItem(seenKey(id)) ?? 0);
  return (state.messages[id] ?? []).some((message) => message.user !== place.user && Number(message.ts) > seen);
}

function renderSidebar() {
  const newest = state.messages[place.channel]?.at(-1)?.ts;
  if (newest && !document.hidden) localStorage.setItem(seenKey(place.channel), newest);
  $("team").textContent = state.team.name;
  reconcile($("channels"), state.channels.filter((one) => !one.is_archived || one.id === place.channel).map((one) => {
    const here = one.id === place.channel;
    const unread = !here && isUnread(one.id);
    return { key: one.id, drawn: JSON.stringify([one, here, unread]), build: () => drawChannel(one, here, unread) };
  }));
  reconcile($("acting"), people().map((user) => ({
    key: user.id, drawn: nameOf(user.id), build: () => h("option", { value: user.id, selected: user.id === place.user }, nameOf(user.id)),
  })));
  const other = people().find((user) => user.id !== place.user);
  $("second").hidden = !other;
  if (other) {
    $("second").href = address({ user: other.id, channel: place.channel });
    $("second").textContent = `Open a tab as ${nameOf(other.id)}`;
  }
}

function drawChannel(one, here, unread) {
  const anchor = inside({ channel: one.id }, "", `${unread ? "unread" : ""} ${one.is_member ? "" : "outside"}`);
  anchor.append(h("span", { "aria-hidden": "true" }, "#"), ` ${one.name}`);
  if (unread) anchor.append(h("span", { class: "dot" }, h("span", { class: "hidden" }, "unread")));
  if (here) anchor.setAttribute("aria-current", "page");
  return h("li", { "data-channel": one.id }, anchor);
}

function renderFrame() {
  const here = channel(place.channel);
  const asking = state.agent.asks;
  const inAsk = place.channel === ASK;
  $("title").replaceChildren(h("span", { "aria-hidden": "true" }, "# "), here.name);
  $("topic").textContent = here.is_member ? (here.topic ?? "") : `${nameOf(place.user)} is not a member of this channel`;
  $("messages").setAttribute("aria-label", `Messages in #${here.name}`);
  $("ask").hidden = inAsk || !asking;
  $("composer").hidden = $("reply").hidden = !here.is_member || Boolean(here.is_archived); // the server would refuse
  const prompt = inAsk && asking ? "Ask the agent, e.g. refund order 1042" : `Message the people in #${here.name}`;
  const [box] = $("composer").elements;
  box.placeholder = prompt;
  box.setAttribute("aria-label", prompt);
  if (box.dataset.channel !== place.channel) {
    drafts.set(box.dataset.channel, box.value);
    box.value = drafts.get(place.channel) ?? "";
    box.dataset.channel = place.channel;
  }
  document.title = `#${here.name} · ${nameOf(place.user)} · ${state.team.name}`;
}

function render() {
  if (!state) return;
  if (!channel(place.channel)) place.channel = state.channels[0].id;
  openThreadOfReply();
  renderFrame();
  renderMessages();
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
  addEventListener("popstate", () => { Object.assign(place, readPlace()); render(); });
  document.addEventListener("visibilitychange", render);
}

// ---------------------------------------------------------------- the connection

function bar(message) {
  $("bar").hidden = !message;
  $("bar").textContent = message ?? "";
}

function listen() {
  const stream = new EventSource(`/sandbox/stream?user=${encodeURIComponent(place.user)}`);
  stream.onopen = () => bar(null);
  stream.onmessage = (event) => { state = JSON.parse(event.data); render(); };
  stream.onerror = () => {
    bar("Reconnecting…");
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, RETRY_MS); // it gives up after an HTTP error
  };
}

async function start() {
  try {
    const response = await fetch(`/sandbox/state?user=${encodeURIComponent(place.user)}`);
    if (response.ok) state = await response.json();
  } catch {
    // not there yet; listen() says so and goes on trying
  }
  const unknown = state && place.user !== FIRST_USER && !people().some((user) => user.id === place.user);
  if (unknown) return location.replace(address({ ...place, user: FIRST_USER }));
  history.replaceState(null, "", address({ ...place, ts: null }));
  render();
  listen();
}

wire();
start();
