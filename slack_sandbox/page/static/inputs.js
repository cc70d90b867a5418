// Inputs. https://docs.slack.dev/reference/block-kit/block-elements
//
// Each input shows what was typed before a redraw, else its initial value. `reads` has a function for each
// that returns its value in the format of Slack's state.

import { h, nextSerial, people, state } from "./place.js";
import { plain, text } from "./text.js";

export const reads = new WeakMap(); // a stateful element's node -> () => its typed value

const TEXT_INPUTS = { __proto__: null, plain_text_input: "text", number_input: "text", email_text_input: "email", url_text_input: "url" };

// type: [the browser's type, the key of the state, the key of the initial value, to the browser's value, and back]
const same = (value) => value;
const PICKERS = {
  __proto__: null,
  datepicker: ["date", "selected_date", "initial_date", same, same],
  timepicker: ["time", "selected_time", "initial_time", same, same],
  datetimepicker: ["datetime-local", "selected_date_time", "initial_date_time", localTime, (value) => new Date(value).getTime() / 1000],
};

// type: [the key of the state, the key of the initial value, what is offered]
const option = (id, name) => ({ text: { type: "plain_text", text: name }, value: id });
const offeredPeople = () => people().map((user) => option(user.id, user.real_name || user.name));
const offeredChannels = () => state.channels.filter((one) => one.name).map((one) => option(one.id, `#${one.name}`));
const LOOKUPS = {
  __proto__: null,
  users_select: ["selected_user", "initial_user", offeredPeople],
  multi_users_select: ["selected_users", "initial_users", offeredPeople],
  channels_select: ["selected_channel", "initial_channel", offeredChannels],
  multi_channels_select: ["selected_channels", "initial_channels", offeredChannels],
  conversations_select: ["selected_conversation", "initial_conversation", offeredChannels],
  multi_conversations_select: ["selected_conversations", "initial_conversations", offeredChannels],
};

/** The node of an input, or null for another element. `kept` is what was typed before, `act` sends a click. */
export function input(element, kept, act, block) {
  const { type } = element;
  if (type in TEXT_INPUTS) return textInput(element, kept, act, block);
  if (type in PICKERS) return picker(element, kept, act);
  if (type in LOOKUPS) return lookup(element, kept, act);
  switch (type) {
    case "static_select": return select(element, kept, act);
    case "radio_buttons": return choices(element, "radio", kept, act);
    case "checkboxes":
    case "multi_static_select": return choices(element, "checkbox", kept, act);
    default: return null;
  }
}

/** What is typed under `root`, in the shape of Slack's state.values. */
export function gather(root) {
  const values = {};
  for (const node of root.querySelectorAll("[data-action-id]")) {
    if (!reads.has(node)) continue;
    const block = node.closest("[data-block-id]").dataset.blockId;
    (values[block] ??= {})[node.dataset.actionId] = reads.get(node)();
  }
  return values;
}

const groupsOf = (element) => element.option_groups ?? [{ options: element.options ?? [] }];

function select(element, kept, act) {
  const options = groupsOf(element).flatMap((group) => group.options);
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
  const options = groupsOf(element).flatMap((group) => group.options);
  const chosen = kept ?? { selected_option: element.initial_option, selected_options: element.initial_options };
  const values = new Set([chosen.selected_option, ...(chosen.selected_options ?? [])].map((option) => option?.value));
  const name = `choice-${nextSerial()}`;
  const most = element.max_selected_items ?? Infinity;
  const inputs = options.map((option, index) => {
    const onchange = () => { limit(); act({ option: kind === "radio" ? index : checked() }); };
    return h("input", { type: kind, name, value: index, checked: values.has(option.value), onchange });
  });
  const checked = () => inputs.flatMap((input, index) => (input.checked ? [index] : []));
  const limit = () => {
    const full = checked().length >= most;
    for (const input of inputs) input.disabled = full && !input.checked;
  };
  limit();
  let next = 0;
  const row = (option) =>
    h("label", {}, inputs[next++],
      h("span", {}, text(option.text), option.description && h("small", {}, text(option.description))));
  const rows = groupsOf(element).flatMap((group) =>
    [group.label && h("p", { class: "group" }, text(group.label)), ...group.options.map(row)]);
  const note = most < options.length && h("small", {}, `At most ${most}`);
  const node = h("fieldset", { class: `choices ${element.type}` }, h("div", {}, rows), note);
  reads.set(node, () => {
    const picked = checked().map((index) => options[index]);
    return kind === "radio"
      ? { type: element.type, selected_option: picked[0] ?? null }
      : { type: element.type, selected_options: picked };
  });
  return node;
}

/** A menu of people or channels: a select, or checkboxes, whose values are ids. */
function lookup(element, kept, act) {
  const [key, initial, offered] = LOOKUPS[element.type];
  const many = key.endsWith("s");
  const before = [(kept ? kept[key] : element[initial]) ?? []].flat();
  const known = offered();
  const others = before.filter((id) => !known.some((one) => one.value === id)).map((id) => option(id, id));
  const options = [...known, ...others];
  const found = options.filter((one) => before.includes(one.value));
  const base = { ...element, options, initial_option: found[0], initial_options: found };
  const go = () => act({});
  const node = many ? choices({ ...base, type: "multi_static_select" }, "checkbox", undefined, go) : select(base, undefined, go);
  const read = reads.get(node);
  reads.set(node, () => {
    const { selected_option, selected_options } = read();
    return { type: element.type, [key]: many ? selected_options.map((one) => one.value) : (selected_option?.value ?? null) };
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
  const [type, field, initial, shown, read] = PICKERS[element.type];
  const node = h("input", { type, onchange: () => node.value && act({}) });
  const before = (kept ? kept[field] : element[initial]) ?? null;
  const drawn = before === null ? "" : shown(before);
  node.value = drawn;
  const value = () => (node.value === drawn ? before : node.value ? read(node.value) : null); // unchanged: keep the seconds
  reads.set(node, () => ({ type: element.type, [field]: value() }));
  return node;
}

/** Seconds since 1970 as the browser's picker writes them: the reader's own time, to the minute. */
function localTime(epoch) {
  const when = new Date(epoch * 1000);
  return new Date(when.getTime() - when.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
