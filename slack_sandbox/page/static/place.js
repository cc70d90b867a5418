// The place that the page shows, and the newest state from the server.

export const FIRST_USER = "U0ALICE";
const FIRST_CHANNEL = "C0APPROVE";

export let state = null; // the newest from the server
export const place = readPlace(); // {user, channel, thread, ts, only, theme}: ts is a message to show once
let draw = () => {};
let serial = 0;

export const $ = (id) => document.getElementById(id);

/** Calls `render(moved)` when the state or the place has changed. */
export const onChange = (render) => { draw = render; };
export const redraw = (moved = false) => draw(moved);
export const setState = (newest) => { state = newest; draw(false); };
export const nextSerial = () => ++serial;

/** This tab, also after a reload: the one to which a click brings a modal. */
export const TAB = (sessionStorage.tab ??= Math.random().toString(36).slice(2));

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

export const unsupported = (type) => h("div", { class: "unsupported" }, `unsupported block: ${type}`);

export function readPlace() {
  const query = new URLSearchParams(location.search);
  const [, channel, ts] = location.hash.match(/^#(\w+)\/([\d.]+)$/) ?? []; // the target of a permalink
  return {
    user: query.get("user") || FIRST_USER,
    channel: channel ?? (query.get("channel") || FIRST_CHANNEL),
    thread: query.get("thread"),
    ts: ts ?? query.get("ts"),
    only: query.get("only"), // show only a message, a thread, a modal or a home, for a picture
    theme: query.get("theme"), // light or dark; default: the browser's setting
  };
}

export function address(where) {
  const kept = Object.entries({ ...where }).filter(([, value]) => value);
  return `?${new URLSearchParams(kept)}`;
}

export function go(where) {
  Object.assign(place, { thread: null, ts: null }, where);
  history.pushState(null, "", address({ ...place, ts: null }));
  redraw(true);
}

export const people = () => state.users.filter((user) => !user.is_bot && !user.deleted);
export const person = (id) => state.users.find((user) => user.id === id);
export const channel = (id) => state.channels.find((one) => one.id === id);
export const nameOf = (id) => person(id)?.real_name || person(id)?.name || id;
