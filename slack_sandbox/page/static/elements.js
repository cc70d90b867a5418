// Block Kit's elements: buttons and menus. Inputs are in inputs.js.

import { busy, click, setBusy } from "./acting.js";
import { input, reads } from "./inputs.js";
import { h, unsupported } from "./place.js";
import { plain, text } from "./text.js";

/** One interactive element: drawn, named for tests and redraws, and wired to send its click. */
export function control(element, block, context) {
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
  switch (element.type) {
    case "button": return button(element, act);
    case "overflow": return overflow(element, act);
    default: return input(element, kept, act, block);
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

/** Put a menu below its button, or above it if there is no room; always inside the window. */
function besides(menu, opener) {
  const box = opener.getBoundingClientRect();
  const below = box.bottom + menu.offsetHeight + 8 < innerHeight;
  menu.style.top = `${below ? box.bottom + 4 : Math.max(8, box.top - menu.offsetHeight - 4)}px`;
  menu.style.left = `${Math.max(8, Math.min(box.left, innerWidth - menu.offsetWidth - 8))}px`;
}
