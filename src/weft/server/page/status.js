/* View of the index: what it holds, whether it is complete, and what the key of this tab allows. */

import * as api from "./api.js";
import { count, el, link, plural, replace } from "./dom.js";
import { keySection, PERMISSIONS } from "./keys.js";

const MAX_LINKS = 100;

/** Show the health of the index and the access of this tab. */
export async function showStatus(main) {
  document.title = "Status · Weft";
  const [stats, key, broken] = await Promise.all([api.stats(), api.key(), api.brokenLinks(MAX_LINKS)]);
  const model = stats.models.find(({ active }) => active);
  replace(
    main,
    el("h1", {}, "Status"),
    el("p", { class: "lead" }, `Namespace ${stats.namespace}`),
    el("h2", {}, "Index"),
    bars([
      ["Documents", stats.documents],
      ["Passages", stats.chunks],
      ["Passages with a vector", stats.vectors],
      ["Different words", stats.terms],
      ["Entities", stats.entities],
      ["Relations", stats.relations],
      ["Facts", stats.facts],
    ]),
    rows([
      ["Embedder", model ? `${model.name}, ${model.dimension} dimensions` : "none: search by words and graph only"],
      [
        "Confidence",
        stats.confidence.origin === "shipped" ? "general; calibrate it with weft calibrate" : stats.confidence.origin,
      ],
    ]),
    el("h2", {}, "Checks"),
    el("ul", { class: "checks" }, checks(stats, model, broken)),
    broken.total ? linkList(broken) : null,
    el("h2", {}, "Access of this tab"),
    rows([
      [
        "Key",
        key.id
          ? `${key.name || "without a name"} (${key.id})`
          : "none; the server has no keys and listens on this machine only",
      ],
      ["Permission", PERMISSIONS[key.access]],
      ["Namespaces", key.namespaces.length > 1 ? namespaceSwitch(key) : key.namespaces.join(", ")],
    ]),
    key.access === "admin"
      ? await keySection(key)
      : el(
          "p",
          { class: "quiet" },
          "An admin key manages keys on this page; the first one comes from weft keys create NAME --admin.",
        ),
  );
}

/** Return the choice of the namespace that this tab reads, for a key with several. */
function namespaceSwitch({ namespaces, namespace }) {
  const choice = el(
    "select",
    { name: "namespace", "aria-label": "Namespace of this tab" },
    namespaces.map((name) => el("option", { selected: name === namespace }, name)),
  );
  choice.addEventListener("change", () => {
    api.keepCredentials({ ...api.credentials(), namespace: choice.value });
    location.reload();
  });
  return choice;
}

/** Return figures with bars. They grow with the logarithm: a store has a thousand times more passages than facts. */
function bars(figures) {
  const most = Math.log1p(Math.max(...figures.map(([, value]) => value), 1));
  return el(
    "dl",
    { class: "labels bars", title: "The bars grow with the logarithm of the number." },
    figures.map(([name, value]) => {
      const bar = el("span", { class: "gauge", "aria-hidden": "true" });
      bar.style.width = `${((100 * Math.log1p(value)) / most).toFixed(1)}%`;
      return [el("dt", {}, name), el("dd", {}, el("span", { class: "number" }, count(value)), bar)];
    }),
  );
}

const rows = (pairs) =>
  el(
    "dl",
    { class: "labels" },
    pairs.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );

/** Return what is complete and what needs attention. */
function checks(stats, model, broken) {
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
    check(
      !broken.total,
      "Every link between documents leads to a document.",
      `${plural(broken.total, "link leads", "links lead")} to no document of this namespace.`,
    ),
    check(!stats.notes.length, "The store reports no problem.", stats.notes.join(" ")),
  ];
}

/** Return the broken links, each with its document and line. */
const linkList = ({ links, total }) =>
  el(
    "details",
    { class: "panel" },
    el("summary", {}, total > links.length ? `The first ${count(links.length)} broken links` : "Broken links"),
    el(
      "ul",
      { class: "broken-links" },
      links.map(({ document_id: id, source, line, target }) =>
        el("li", {}, link("document", { id }, {}, `${source}:${line}`), " → ", el("code", {}, target)),
      ),
    ),
  );

const check = (isGood, good, bad) =>
  el("li", { class: isGood ? "good" : "doubt" }, el("b", {}, isGood ? "OK" : "Attention"), ` ${isGood ? good : bad}`);
