/* View of the index: what it holds, whether it is complete, and what the key of this tab allows. */

import * as api from "./api.js";
import { count, el, replace } from "./dom.js";

/** Show the health of the index and the access of this tab. */
export async function showStatus(main) {
  document.title = "Status · Weft";
  const [stats, key] = await Promise.all([api.stats(), api.key()]);
  const model = stats.models.find(({ active }) => active);
  replace(
    main,
    el("h1", {}, "Status"),
    el("p", { class: "lead" }, `Namespace ${stats.namespace}`),
    el("h2", {}, "Index"),
    rows([
      ["Documents", count(stats.documents)],
      ["Passages", count(stats.chunks)],
      ["Different words", count(stats.terms)],
      ["Entities, relations", `${count(stats.entities)}, ${count(stats.relations)}`],
      ["Facts", count(stats.facts)],
      ["Embedder", model ? `${model.name}, ${model.dimension} dimensions` : "none: search by words and graph only"],
      [
        "Confidence",
        stats.confidence.origin === "shipped" ? "general; calibrate it with weft calibrate" : stats.confidence.origin,
      ],
    ]),
    el("h2", {}, "Checks"),
    el("ul", { class: "checks" }, checks(stats, model)),
    el("h2", {}, "Access of this tab"),
    rows([
      [
        "Key",
        key.id
          ? `${key.name || "without a name"} (${key.id})`
          : "none; the server has no keys and listens on this machine only",
      ],
      ["Permission", key.access === "write" ? "read and write" : "read only"],
      ["Namespaces", key.namespaces.join(", ")],
    ]),
    el("p", { class: "quiet" }, "Keys are created and revoked on the command line, with weft keys."),
  );
}

const rows = (pairs) =>
  el(
    "dl",
    { class: "labels" },
    pairs.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );

/** Return what is complete and what needs attention. */
function checks(stats, model) {
  const missing = stats.chunks - stats.vectors;
  return [
    check(stats.documents > 0, "Documents are indexed.", "Nothing is indexed yet. Add documents."),
    model
      ? check(
          missing === 0,
          "Every passage has a vector.",
          `${count(missing)} passages have no vector: run weft reembed.`,
        )
      : null,
    check(stats.entities > 0, "The graph has entities.", "The graph is empty: graph.extractor may be off."),
    check(!stats.notes.length, "The store reports no problem.", stats.notes.join(" ")),
  ];
}

const check = (isGood, good, bad) =>
  el("li", { class: isGood ? "good" : "doubt" }, el("b", {}, isGood ? "OK" : "Attention"), ` ${isGood ? good : bad}`);
