/* Question history of this browser. With an API key it is kept in the tab only, like the key. */

import * as api from "./api.js";
import { announce, el, link, plural, replace } from "./dom.js";

const NAME = "weft-history";
const MAX_QUESTIONS = 50;
const MAX_SHOWN = 8;

const storage = () => (api.credentials().key ? sessionStorage : localStorage);
const name = () => `${NAME}:${api.credentials().namespace}`;

/** Return the stored questions, latest first. */
export function questions() {
  try {
    const stored = JSON.parse(storage().getItem(name()) ?? "[]");
    return Array.isArray(stored) ? stored.filter((entry) => typeof entry?.q === "string") : [];
  } catch {
    return [];
  }
}

/** Store a question with its filters and its outcome; an earlier one with the same words is replaced. */
export function remember(q, filters, { status, count }) {
  const others = questions().filter((entry) => entry.q !== q);
  keep([{ q, filters, status, count, at: new Date().toISOString() }, ...others].slice(0, MAX_QUESTIONS));
}

function keep(entries) {
  if (entries.length) storage().setItem(name(), JSON.stringify(entries));
  else storage().removeItem(name());
}

/** Return the latest questions as links, with buttons that delete one or all; null if there is none. */
export function historyList(labels) {
  const entries = questions();
  if (!entries.length) return null;
  const box = el("section", { class: "history panel", "aria-label": "Recent questions" });
  const clear = el("button", { type: "button", class: "plain small" }, "Clear history");
  clear.addEventListener("click", () => {
    keep([]);
    box.remove();
    announce("History cleared");
    document.getElementById("question")?.focus();
  });
  const list = el("ul");
  const fill = () =>
    replace(
      list,
      questions()
        .slice(0, MAX_SHOWN)
        .map((entry) => item(entry, labels, fill)),
    );
  fill();
  box.append(el("header", { class: "row" }, el("h2", {}, "Recent questions"), clear), list);
  return box;
}

function item({ q, filters = {}, status, count }, labels, refresh) {
  const forget = el("button", { type: "button", class: "plain small", "aria-label": `Delete from history: ${q}` }, "×");
  forget.addEventListener("click", () => {
    keep(questions().filter((entry) => entry.q !== q));
    refresh();
    document.querySelector(".history button")?.focus();
  });
  const outcome = [labels[status]?.[0], plural(Number(count) || 0, "passage")].filter(Boolean).join(" · ");
  return el("li", {}, link("ask", { q, ...filters }, {}, q), el("span", { class: "quiet" }, outcome), forget);
}
