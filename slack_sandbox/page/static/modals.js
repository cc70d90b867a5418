// Modals: the view on top, as a dialog.

import { hostToasts, lastClicked, nodesOf, post, setBusy, toast, TROUBLE } from "./acting.js";
import { blocks } from "./blocks.js";
import { gather } from "./inputs.js";
import { focusOn, swap } from "./lists.js";
import { h, redraw, state, TAB } from "./place.js";
import { text } from "./text.js";

const closing = new Set(); // ids of views for which a close request was sent
const forms = new Map(); // view id -> {drawn, node}: each open view's form, with what is typed in it
let modal = null;

export function renderModal() {
  const open = new Set(state.views.map((view) => view.id));
  for (const id of forms.keys()) if (!open.has(id)) forms.delete(id);
  const view = topView();
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

/** The view to show here, if any: a modal opens in the tab whose click it answers, where that is known. */
function topView() {
  if (state.tab && state.tab !== TAB) return undefined;
  return state.views.filter((one) => !closing.has(one.id)).at(-1);
}

function cancelModal(event) {
  event.preventDefault();
  closeView(topView()?.id);
}

function closeModal() {
  if (!modal) return;
  const gone = modal;
  modal = null;
  gone.close();
  hostToasts();
  gone.remove();
  if (document.activeElement === document.body && lastClicked) nodesOf(lastClicked)[0]?.focus({ preventScroll: true });
}

/** The form of a view: redrawn only when the view changed, with what was typed in inputs whose ids stay. */
function formOf(view) {
  const old = forms.get(view.id);
  const now = JSON.stringify([view.title, view.submit, view.close, view.blocks]);
  if (old?.drawn === now) return old.node;
  const node = drawForm(view, old ? gather(old.node) : view.state.values);
  forms.set(view.id, { drawn: now, node });
  if (old) {
    const fields = [...old.node.querySelectorAll(".block-input")];
    const errors = fields.map((field) => [field.dataset.blockId, field.querySelector(".error").textContent]);
    showErrors(node, Object.fromEntries(errors));
    if (old.node.parentNode) swap(old.node, node);
  }
  return node;
}

export function drawForm(view, values) {
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
  const now = forms.get(id)?.node; // by now the view may be redrawn or closed
  if (answer.ok) {
    if (answer.closed) closing.add(id);
    if (now) showErrors(now, {});
    return redraw();
  }
  if (!now) return toast(answer.error ?? TROUBLE, "alert");
  const shown = showErrors(now, answer.errors ?? {});
  if (!answer.errors || shown < Object.keys(answer.errors).length) toast(answer.error ?? TROUBLE, "alert");
}

/** Put each error beside its field and the focus in the first; returns how many found their field. */
export function showErrors(form, errors) {
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
  redraw();
  const answer = await post("close", { view_id: id });
  if (answer.ok || !state.views.some((view) => view.id === id)) return; // closed, as requested
  closing.delete(id);
  redraw();
  toast(answer.error, "alert");
}
