// The app's Home tab. https://docs.slack.dev/surfaces/app-home

import { post, toast } from "./acting.js";
import { blocks } from "./blocks.js";
import { gather } from "./inputs.js";
import { reconcile, stay } from "./lists.js";
import { $, h, place, state } from "./place.js";

export const HOME = "home"; // as a channel's id in the address

/** What the frame shows in place of a channel. */
export const homePlace = () => ({ id: HOME, topic: "Home · only you see this", is_im: true, im_user: state.bot, is_member: true, can_write: false });

/** Tells the app that the person opened its Home, as Slack does each time. */
export async function enterHome() {
  const answer = await post("home", {});
  if (!answer.ok) toast(answer.error, "alert");
}

export function renderHome() {
  const view = state.home;
  const empty = { key: "no home", drawn: "", build: () => h("p", { class: "empty" }, "Waiting for the app. It publishes this page when you open it.") };
  const item = view && { key: view.id, drawn: JSON.stringify(view.blocks), build: (old) => drawHome(view, old && gather(old)) };
  stay($("messages"), `${HOME} ${place.user}`, () => reconcile($("messages"), [item ?? empty]));
}

export const drawHome = (view, values) => h("div", { class: "home" }, blocks(view.blocks, { view_id: view.id, values }));
