/* List of the things that a question about relations asks for. */

import { el, link, short, words } from "./dom.js";

/** Return the answer of the graph to a question about relations: a counted list with the statements; null without one. */
export function relationList(answer) {
  if (!answer?.items.length) return null;
  const count = `${answer.items.length} of ${answer.total}`;
  return el(
    "section",
    { class: "related panel", "aria-labelledby": "related" },
    el("h2", { id: "related" }, `${answer.names.join(" and ")}: ${count}`),
    el("ol", {}, answer.items.map(relatedThing)),
  );
}

function relatedThing({ name, path, sentence, citation }) {
  const chain = path.map((step) => `${words(step.type)} ${step.target}`).join(" → ");
  return el(
    "li",
    {},
    link("entity", { name }, { class: "name" }, name),
    el("span", { class: "quiet" }, ` ${path[0].source} ${chain}`),
    sentence ? el("p", { class: "quiet" }, sentence) : null,
    citation ? el("p", { class: "citation", title: citation }, short(citation)) : null,
  );
}
