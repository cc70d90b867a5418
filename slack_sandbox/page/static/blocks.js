// Block Kit's blocks. https://docs.slack.dev/reference/block-kit/blocks

import { control } from "./elements.js";
import { h, nextSerial, unsupported } from "./place.js";
import { richBlock } from "./rich.js";
import { text } from "./text.js";

// `context` says where the blocks are: {channel, ts} or {view_id}, and `values`, what was typed before a redraw.

// The text that Slack has for an alert's icon.
const LEVELS = { __proto__: null, info: "Information:", warning: "Warning:", error: "Error:", success: "Success:" };

const BLOCKS = {
  __proto__: null,
  header: (block) => h("h3", {}, text(block.text)),
  alert: (block) => h("div", { role: "alert", class: `level-${block.level ?? "default"}` }, h("span", { class: "hidden" }, `${LEVELS[block.level] ?? ""} `), h("span", {}, text(block.text))),
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
  table,
  input: inputBlock,
};

export function blocks(list, context) {
  return list.map((block) => {
    const node = BLOCKS[block.type]?.(block, context) ?? unsupported(block.type);
    node.classList.add("block", `block-${block.type.replace(/[^a-z_]/g, "")}`);
    node.dataset.blockId = block.block_id;
    return node;
  });
}

// The first row is the head. On a phone the block scrolls sideways.
function table(block) {
  const settings = block.column_settings ?? [];
  const row = (tag) => (cells) =>
    h("tr", {}, cells.map((cell, at) => {
      const { align = "left", is_wrapped: wrapped } = settings[at] ?? {};
      const content = cell.type === "rich_text" ? cell.elements.map(richBlock) : text(cell);
      return h(tag, { class: `align-${align} ${wrapped ? "wrapped" : ""}`, scope: tag === "th" && "col" }, content);
    }));
  const [head, ...rows] = block.rows;
  return h("div", { tabindex: 0 }, h("table", {}, h("thead", {}, row("th")(head)), h("tbody", {}, rows.map(row("td")))));
}

function image(element) {
  const source = element.image_url ?? element.slack_file?.url ?? "";
  return h("img", { src: /^https?:/i.test(source) && source, alt: element.alt_text ?? "", title: element.alt_text });
}

function inputBlock(block, context) {
  const id = `input-${nextSerial()}`;
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
