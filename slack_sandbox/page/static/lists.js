// Redraws only what changed, and keeps the focus and the scroll position.

const drawn = new WeakMap(); // a list's node -> Map(key -> {drawn, node})

/** Make the children of `parent` the `items`, {key, drawn, build}, touching only what changed. */
export function reconcile(parent, items) {
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

/** Replace a node by its new version, and keep the focus and the caret. */
export function swap(old, node) {
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

export function focusOn(node) {
  const inner = node.matches("fieldset") ? (node.querySelector("input:checked") ?? node.querySelector("input")) : node;
  inner?.focus({ preventScroll: true });
}

/** Redraw a list and keep the scroll position: at the end if it was there, else where it was. */
export function follow(list, shown, redraw) {
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

/** Redraw a page that is read from its top, and stay where the reader was. */
export function stay(page, shown, redraw) {
  const top = page.dataset.shown === shown ? page.scrollTop : 0;
  redraw();
  page.dataset.shown = shown;
  page.scrollTop = top;
}

/** A link to a reply leads into its thread. */
