// Shows only one message, notice, thread, modal or home, without the rest of the page: for pictures.

import { drawHome } from "./home.js";
import { drawMessage } from "./messages.js";
import { drawForm, showErrors } from "./modals.js";
import { $, h, place, state } from "./place.js";

const DRAW = { __proto__: null, message, notice, thread, modal, home };

/** Draws the item that `?only=` names into #alone, which is empty until everything is drawn. */
export function renderAlone() {
  $("alone").replaceChildren(...(DRAW[place.only]?.() ?? [h("p", {}, `There is no ?only=${place.only}.`)]));
}

const messages = () => state.messages[place.channel] ?? [];
const drawn = (found) => found.map((one) => drawMessage(one, 0, true));

function message() {
  return drawn(place.ts ? messages().filter((one) => one.ts === place.ts) : messages().slice(-1));
}

function notice() {
  const mine = state.ephemerals.filter((one) => one.channel === place.channel);
  return drawn(mine.slice(-1).map((one) => ({ ...one, ephemeral: true })));
}

function thread() {
  return drawn(messages().filter((one) => [one.ts, one.thread_ts].includes(place.ts)));
}

function modal() {
  return state.views.slice(-1).map((view) => {
    const form = drawForm(view, view.state.values);
    showErrors(form, view.errors ?? {});
    return h("div", { class: "modal" }, form);
  });
}

function home() {
  return state.home ? [drawHome(state.home)] : [];
}
