/* View of the timeline: what was said in a period, by day, newest first. */

import * as api from "./api.js";
import { address, el, link, plural, replace } from "./dom.js";

/** Show the exchanges of the period in the address; of the latest two weeks with conversations without one. */
export async function showTimeline(main, params) {
  const when = params.get("when") ?? "";
  document.title = "Timeline · Weft";
  const { days, truncated } = await api.timeline(when);
  const count = days.reduce((sum, { entries }) => sum + entries.length, 0);
  const none = when ? `No conversation in this period: ${when}` : "No conversation is indexed in this namespace yet";
  replace(
    main,
    el("h1", {}, "Timeline"),
    periodForm(when),
    el("p", { class: "quiet" }, count ? `${plural(count, "exchange")}${truncated ? ", older ones left out" : ""}` : none),
    days.map(daySection),
  );
}

function periodForm(when) {
  const field = el("input", {
    name: "when",
    type: "search",
    value: when,
    maxlength: 200,
    placeholder: "last week, since Monday, 2026-03",
    autocomplete: "off",
  });
  const submit = (event) => {
    event.preventDefault();
    location.hash = address("timeline", field.value.trim() ? { when: field.value.trim() } : {});
  };
  return el("form", { class: "tools", role: "search", on: { submit } }, el("label", {}, "Period ", field), el("button", { class: "primary" }, "Show"));
}

function daySection({ day, entries }) {
  const id = `day-${day}`;
  return el(
    "section",
    { class: "panel", "aria-labelledby": id },
    el("h2", { id }, day),
    el("ol", { class: "plain" }, entries.map(entryItem)),
  );
}

function entryItem({ time, title, text, citation, chunk_id: chunk }) {
  return el(
    "li",
    {},
    el("p", {}, el("b", {}, time.slice(11, 16)), " ", text),
    el("p", { class: "quiet" }, link("document", { chunk }, { title: citation }, title || citation)),
  );
}
