// Sends what a person does, and shows that it is running or failed.

import { gather } from "./inputs.js";
import { $, h, nextSerial, place, TAB } from "./place.js";
import { text } from "./text.js";

export const TROUBLE = "We had some trouble connecting. Try again?"; // Slack's text for a failed click
const TOAST_MS = 8000;

export const busy = new Set(); // keys of the elements with a running click
export let lastClicked = null; // the key of the element that gets the focus back

export async function post(what, body) {
  try {
    const response = await fetch(`/sandbox/${what}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ user: place.user, tab: TAB, ...body }),
    });
    const answer = await response.json();
    return answer.ok || answer.errors || answer.error ? answer : { ok: false, error: TROUBLE };
  } catch {
    return { ok: false, error: TROUBLE };
  }
}

export const nodesOf = (key) => document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`);

export function setBusy(node, on) {
  node.classList.toggle("busy", on);
  node.toggleAttribute("aria-busy", on);
  if (node.matches("button")) on ? node.setAttribute("aria-disabled", "true") : node.removeAttribute("aria-disabled");
  else node.disabled = on; // a button stays focusable, so that it keeps the focus until the answer comes
}

/** Send a click; false when it was refused, by the person in the confirm dialog or by the server. */
export async function click(key, element, block, context, extra = {}) {
  if (busy.has(key)) return false;
  const clicked = nodesOf(key)[0];
  if (element.confirm && !(await confirmed(element.confirm))) return false;
  const root = clicked.closest(".message, form, .home");
  const { values, ...where } = context;
  const body = { ...where, block_id: block.block_id, action_id: element.action_id, confirmed: Boolean(element.confirm), ...extra, state: gather(root) };
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
    const id = `confirm-${nextSerial()}`;
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

export function toast(message, role, ...more) {
  const dismiss = h("button", { type: "button", class: "icon", "aria-label": "Dismiss", onclick: () => node.remove() }, "✕");
  const node = h("div", { class: `toast ${role}`, role }, h("span", {}, message, " ", more), dismiss);
  hostToasts();
  $("toasts").append(node);
  setTimeout(() => node.remove(), TOAST_MS);
}

/** A modal makes everything outside itself inert, so the toasts live inside it while it is open. */
export function hostToasts() {
  const host = document.querySelector("dialog.modal[open]:not(.confirm)") ?? document.body;
  if ($("toasts").parentNode !== host) host.append($("toasts"));
}

export async function say(form, where, done) {
  const [box] = form.elements;
  const words = box.value.trim();
  if (!words || form.matches(".busy")) return;
  form.classList.add("busy");
  const command = /^\/\S/.test(words) && !where.thread_ts; // as in Slack, not in a thread
  const answer = await post(command ? "command" : "say", { ...where, text: words });
  form.classList.remove("busy");
  if (!answer.ok) return toast(answer.error, "alert");
  box.value = "";
  done?.(answer.ts);
}
