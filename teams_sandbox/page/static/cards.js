// Draws an Adaptive Card with Microsoft's own renderer (adaptivecards.min.js) in Teams' colours, and handles
// presses of its buttons. No text is parsed as Markdown: the server checked that the bot's cards have none.

import { hostConfig } from "./host_config.js";
import { h, isDark, post } from "./place.js";

const banners = new Map(); // message id -> {kind, text}: what the bot answered to this person

AdaptiveCards.AdaptiveCard.onProcessMarkdown = () => {};

/** The card of a message, and below it the answer to the last press. */
export function drawCard(message) {
  const node = h("div", { class: "card" });
  const card = new AdaptiveCards.AdaptiveCard();
  card.hostConfig = new AdaptiveCards.HostConfig(hostConfig(isDark()));
  card.onExecuteAction = (action) => act(node, card, message, action);
  card.parse(withIds(withoutTags(message.card)));
  node.append(card.render() ?? h("p", { class: "banner error" }, message.card.fallbackText ?? "This card can't be shown."));
  setBanner(node, banners.get(message.id));
  return node;
}

/** Teams draws `<at>Name</at>` as a name. */
function withoutTags(card) {
  return JSON.parse(JSON.stringify(card, (key, value) =>
    value?.type === "TextBlock" && /<at>/.test(value.text)
      ? { ...value, text: value.text.replace(/<at>([^<>]*)<\/at>/g, "$1"), color: "accent" }
      : value));
}

/** Gives each action its JSON pointer in the card as id, by which the server finds it. */
function withIds(value, at = "") {
  if (Array.isArray(value)) return value.map((one, index) => withIds(one, `${at}/${index}`));
  if (value === null || typeof value !== "object") return value;
  const parts = Object.entries(value).map(([key, part]) => [key, key === "data" ? part : withIds(part, `${at}/${key}`)]);
  const made = Object.fromEntries(parts);
  return String(made.type).startsWith("Action.") ? { ...made, id: at } : made;
}

async function act(node, card, message, action) {
  if (action instanceof AdaptiveCards.OpenUrlAction) return void window.open(action.url, "_blank", "noopener");
  if (!(action instanceof AdaptiveCards.ExecuteAction) || node.matches(".busy")) return;
  node.classList.add("busy");
  setBanner(node, null);
  const entries = Object.fromEntries(card.getAllInputs().map((input) => [input.id, entryOf(input)]));
  const answer = await post("press", { conversation: message.conversation, message: message.id, action: action.id, entries });
  node.classList.remove("busy");
  if (answer.text) setBanner(node, { kind: "note", text: answer.text }, message.id);
  else if (!answer.ok) setBanner(node, { kind: "error", text: answer.error }, message.id);
  else banners.delete(message.id);
}

/** What a person entered in this input, in the server's format. */
function entryOf(input) {
  const value = input.value ?? null;
  if (input instanceof AdaptiveCards.ToggleInput) return value === input.valueOn;
  if (input instanceof AdaptiveCards.ChoiceSetInput && input.isMultiSelect) return value ? value.split(",") : [];
  return value === null || value === "" ? null : String(value);
}

function setBanner(node, banner, id) {
  if (id) banners.set(id, banner);
  node.querySelector(":scope > .banner")?.remove();
  if (!banner) return;
  const close = h("button", { type: "button", class: "icon", "aria-label": "Dismiss", onclick: () => dismiss(node, id) }, "✕");
  node.append(h("div", { class: `banner ${banner.kind}`, role: banner.kind === "error" ? "alert" : "status" }, h("span", {}, banner.text), close));
}

function dismiss(node, id) {
  banners.delete(id);
  setBanner(node, null);
}
