// Text: plain text, mrkdwn as Slack reads it, and emoji.
// https://docs.slack.dev/messaging/formatting-message-text

import { address, channel, go, h, nameOf, place, state } from "./place.js";

export const EMOJI = {
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
export function text(object) {
  if (!object) return [];
  return object.type === "mrkdwn" ? mrkdwn(object.text) : words(plain(object));
}

/** What a plain_text object says, or nothing. */
export const plain = (object) => (object ? (object.emoji ? withEmoji(object.text) : object.text) : "");

/** Text as nodes: an id such as 0-5f2a9c stays on one line. */
export const words = (source) =>
  source.split(/(?<![\w-])((?=[\w-]*\d)\w+(?:-\w+)+)(?![\w-])/).map((part, i) =>
    i % 2 && part.length <= 28 ? h("span", { class: "id" }, part) : part);

export function mrkdwn(source) {
  return source.split(/\n?```\n?([\s\S]+?)\n?```\n?/).flatMap((part, i) => (i % 2 ? h("pre", {}, unescaped(part)) : quotes(part)));
}

function quotes(source) {
  return source.split(/(^(?:&gt;|>).*(?:\n(?:&gt;|>).*)*\n?)/m).flatMap((part, i) =>
    i % 2 ? h("blockquote", {}, inline(part.replace(/^(?:&gt;|>) ?/gm, "").trimEnd())) : inline(part),
  );
}

// *bold* and similar: the marks are at the edges of words, with no space inside
const span = (mark) =>
  String.raw`(?<![\p{L}\p{N}${mark}])${mark}(?![\s${mark}])([^${mark}\n]*?[^\s${mark}])${mark}(?![\p{L}\p{N}${mark}])`;
const MARK = new RegExp(["`([^`\n]+)`", "<([^<>\n]+)>", span("\\*"), span("_"), span("~"), ":([a-z0-9_+-]+):"].join("|"), "gu");

function inline(source) {
  const nodes = [];
  let end = 0;
  for (const match of source.matchAll(MARK)) {
    const [whole, code, entity, bold, italic, strike, shortcode] = match;
    if (match.index > end) nodes.push(...words(unescaped(source.slice(end, match.index))));
    end = match.index + whole.length;
    if (code) nodes.push(h("code", {}, unescaped(code)));
    else if (entity) nodes.push(reference(entity));
    else if (bold) nodes.push(h("strong", {}, inline(bold)));
    else if (italic) nodes.push(h("em", {}, inline(italic)));
    else if (strike) nodes.push(h("s", {}, inline(strike)));
    else nodes.push(emoji(shortcode));
  }
  if (end < source.length) nodes.push(...words(unescaped(source.slice(end))));
  return nodes;
}

/** What is between < and >: a mention, a channel, a date or a link. */
function reference(body) {
  const bar = body.indexOf("|");
  const target = bar < 0 ? body : body.slice(0, bar);
  const label = bar < 0 ? "" : unescaped(body.slice(bar + 1));
  if (target.startsWith("@")) return mention(target.slice(1));
  if (target.startsWith("#")) return channelLink(target.slice(1), label);
  if (target.startsWith("!subteam^")) return groupMention(target.slice(9), label.replace(/^@/, ""));
  if (target.startsWith("!date^")) {
    const [, epoch, format] = target.split("^");
    return date(Number(epoch), format, label);
  }
  if (target.startsWith("!")) return h("span", { class: "mention" }, `@${target.slice(1)}`);
  return link(unescaped(target), label);
}

export const mention = (id) => h("span", { class: id === place.user ? "mention mine" : "mention" }, `@${nameOf(id)}`);

export function groupMention(id, label) {
  const group = state.groups.find((one) => one.id === id);
  const mine = group?.users.includes(place.user);
  return h("span", { class: mine ? "mention mine" : "mention" }, `@${group?.handle ?? (label || id)}`);
}

export function channelLink(id, label) {
  const known = channel(id);
  if (!known) return h("span", { class: "mention" }, `#${label || id}`);
  return inside({ channel: id }, `#${known.name}`, "mention");
}

/** A link to a place in this page, that a new tab can open as well. */
export function inside(where, label, style) {
  const onclick = (event) => {
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(where);
  };
  return h("a", { class: style, href: address({ user: place.user, ...where }), onclick }, label);
}

export function link(url, label) {
  const permalink = url.match(/\/archives\/(\w+)\/p(\d{10})(\d{6})(?:\?(?:.*&)?thread_ts=([\d.]+))?/);
  if (permalink && channel(permalink[1])) {
    const ts = `${permalink[2]}.${permalink[3]}`;
    return inside({ channel: permalink[1], ts, thread: permalink[4] ?? null }, label || url);
  }
  const file = url.startsWith(`${location.origin}/files/`) && new URL(url).pathname;
  if (file) return h("a", { href: `${file}?user=${place.user}`, target: "_blank", rel: "noopener" }, label || url);
  if (!/^(https?|mailto):/i.test(url)) return h("span", {}, label || url);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, label || url);
}

export function date(epoch, format, fallback) {
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

export const clock = (when) => when.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });

export function pretty(when) {
  const days = Math.round((new Date(when).setHours(0, 0, 0, 0) - new Date().setHours(0, 0, 0, 0)) / 86_400_000);
  return { "-1": "Yesterday", 0: "Today", 1: "Tomorrow" }[days];
}
