/* Relations of the small graph: which have a direction, and how they are listed. */

import { digits, el, link, short, words } from "./dom.js";

/** Relation types that are their own inverse. */
const SYMMETRIC = new Set(["co_occurs_with", "married_to", "related_to", "sibling_of"]);

/** Return true for a relation without a direction, which is drawn without an arrow. */
export const isSymmetric = (type) => SYMMETRIC.has(type);

/** Return a row with the other entity of a link, its relation types and the greatest weight. */
export function relationRow({ a, b, relations }, point) {
  const other = a === point ? b : a;
  const outward = relations.filter((r) => r.source === point.name);
  const types = outward.length ? outward.map((r) => words(r.type)) : relations.map((r) => `← ${words(r.type)}`);
  const more = types.length > 2 ? ` +${types.length - 2}` : "";
  return el(
    "li",
    { title: types.join(", ") },
    el("b", {}, other.name),
    el("span", { class: "types" }, `${types.slice(0, 2).join(", ")}${more}`),
    el("span", { class: "number" }, digits(relations[0].weight)),
  );
}

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
