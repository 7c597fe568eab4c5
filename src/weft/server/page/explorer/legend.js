/* Legend of the drawing, which is also its filter: types of entities and relations, and what the numbers mean. */

import { count, el, words } from "../dom.js";

const MAX_TYPES = 24;

/** Return check boxes for the types of entities and relations, and an explanation of the numbers. */
export function filterPanel(model, onChange) {
  return el(
    "details",
    { class: "panel legend-panel" },
    el("summary", {}, "Filter and legend"),
    el(
      "div",
      { class: "groups-of-types" },
      group(
        "Types of entities",
        model.types,
        (n) => tally(model.type, model.count, n),
        model.hidden.types,
        onChange,
        () => "type",
      ),
      group(
        "Types of relations",
        model.kinds.map((kind) => kind.name),
        (n) => tally(model.kind, model.size, n),
        model.hidden.kinds,
        onChange,
        (n) => (model.kinds[n].directed ? "arrow" : "plain-line"),
      ),
      explanation(),
    ),
  );
}

function tally(column, size, value) {
  let sum = 0;
  for (let i = 0; i < size; i += 1) if (column[i] === value) sum += 1;
  return sum;
}

function group(title, names, sizeOf, hidden, onChange, signOf) {
  const sized = names.map((name, n) => ({ name, n, size: sizeOf(n) })).sort((a, b) => b.size - a.size);
  return el(
    "fieldset",
    {},
    el("legend", {}, title),
    sized.slice(0, MAX_TYPES).map(({ name, n, size }) => {
      const box = el("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => {
        if (box.checked) hidden.delete(n);
        else hidden.add(n);
        onChange();
      });
      return el(
        "label",
        {},
        box,
        el("span", { class: signOf(n) }, words(name) || "without a type"),
        el("span", { class: "quiet" }, count(size)),
      );
    }),
  );
}

function explanation() {
  return el(
    "dl",
    { class: "labels" },
    [
      ["Size", "number of passages that mention the entity; those of its own page count once"],
      ["Line width, weight", "1 to 10: from 7 on, a text states the relation; below, the names occur together"],
      ["Arrow", "direction of the relation; a relation without direction has none"],
      ["Disc", "a community, named after words typical of its entities; the number counts them"],
      ["Thin ring", "pinned: it stays where you put it"],
    ].map(([name, meaning]) => [el("dt", {}, name), el("dd", {}, meaning)]),
  );
}
