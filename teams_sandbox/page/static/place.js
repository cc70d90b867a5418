// The place that the page shows, and the newest state from the server.

export let state = null;
/** {user, conversation, message, only, theme}. `message`: the thread to answer in; alone with `only`. */
export const place = readPlace();
let draw = () => {};

export const $ = (id) => document.getElementById(id);

/** Calls `render()` when the state or the place has changed. */
export const onChange = (render) => { draw = render; };
export const redraw = () => state && draw();
export const setState = (newest) => { state = newest; redraw(); };

/** Make an element. Strings become text nodes; `null` and `false` are left out. */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function readPlace() {
  const query = new URLSearchParams(location.search);
  const names = ["user", "conversation", "message", "only", "theme"];
  return Object.fromEntries(names.map((name) => [name, query.get(name)]));
}

export function address(where) {
  return `?${new URLSearchParams(Object.entries(where).filter(([, value]) => value))}`;
}

export function go(where) {
  Object.assign(place, { message: null }, where);
  history.pushState(null, "", address(place));
  redraw();
}

export const conversation = () => state.conversations.find((one) => one.id === place.conversation);
export const isDark = () =>
  (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

export async function post(what, body) {
  const failed = { ok: false, error: "Something went wrong. Please try again." };
  try {
    const response = await fetch(`/sandbox/${what}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ user: state.me, ...body }),
    });
    const answer = await response.json();
    return answer.ok || answer.error ? answer : failed;
  } catch {
    return failed;
  }
}
