// Rich text. https://docs.slack.dev/reference/block-kit/blocks/rich-text-block

import { h, unsupported } from "./place.js";
import { channelLink, date, EMOJI, groupMention, link, mention, words } from "./text.js";

export function richBlock(element) {
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
    case "text": return words(element.text);
    case "link": return link(element.url, element.text);
    case "user": return mention(element.user_id);
    case "usergroup": return groupMention(element.usergroup_id);
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
