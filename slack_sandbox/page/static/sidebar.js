// The channels, direct messages, the app's Home tab, and the choice of the acting person.

import { HOME } from "./home.js";
import { reconcile } from "./lists.js";
import { $, address, h, nameOf, people, place, state } from "./place.js";
import { inside } from "./text.js";

const seenKey = (id) => `seen ${place.user} ${id}`;

function isUnread(id) {
  const seen = Number(localStorage.getItem(seenKey(id)) ?? 0);
  return (state.messages[id] ?? []).some((message) => message.user !== place.user && Number(message.ts) > seen);
}

export function renderSidebar() {
  const newest = state.messages[place.channel]?.at(-1)?.ts;
  if (newest && !document.hidden) localStorage.setItem(seenKey(place.channel), newest);
  $("team").textContent = state.team.name;
  const shown = state.channels.filter((one) => !one.is_archived || one.id === place.channel);
  list("channels", shown.filter((one) => !one.is_im).map((one) => [one.id, "#", one.name, one.is_member]));
  list("direct", shown.filter((one) => one.is_im).map((one) => [one.id, "@", nameOf(one.im_user), true]));
  list("apps", state.home_enabled ? [[HOME, "⌂", nameOf(state.bot), true]] : []);
  reconcile($("acting"), people().map((user) => ({
    key: user.id, drawn: nameOf(user.id), build: () => h("option", { value: user.id, selected: user.id === place.user }, nameOf(user.id)),
  })));
  const other = people().find((user) => user.id !== place.user);
  $("second").hidden = !other;
  if (other) {
    $("second").href = address({ user: other.id, channel: place.channel });
    $("second").textContent = `Open a tab as ${nameOf(other.id)}`;
  }
}

/** One section of the sidebar. Each item is [id, sign, name, whether the person is a member]; an empty section is hidden. */
function list(id, rows) {
  $(id).hidden = $(`${id}-title`).hidden = rows.length === 0;
  reconcile($(id), rows.map((row) => {
    const here = row[0] === place.channel;
    const unread = !here && isUnread(row[0]);
    return { key: row[0], drawn: JSON.stringify([row, here, unread]), build: () => drawRow(...row, here, unread) };
  }));
}

function drawRow(id, sign, name, isMember, here, unread) {
  const anchor = inside({ channel: id }, "", `${unread ? "unread" : ""} ${isMember ? "" : "outside"}`);
  anchor.append(h("span", { "aria-hidden": "true" }, sign), ` ${name}`);
  if (unread) anchor.append(h("span", { class: "dot" }, h("span", { class: "hidden" }, "unread")));
  if (here) anchor.setAttribute("aria-current", "page");
  return h("li", { "data-channel": id }, anchor);
}
