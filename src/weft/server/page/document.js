/* View of one document: its chunks with the cited one marked, metadata, related documents. */

import * as api from "./api.js";
import { confirmed, copyButton, digits, el, link, plural, problem, replace, short, words } from "./dom.js";
import { openButton } from "./editor.js";
import { matcher } from "./markdown/highlight.js";
import { passage } from "./passage.js";

const MAX_RELATED = 8;

/** Show a document's chunks with the requested one marked; of a long document, the page that contains it. */
export async function showDocument(main, params) {
  const chunk = params.get("chunk") ?? "";
  const cited = chunk && (await findChunk(chunk, { isNeeded: !params.has("id") }));
  const id = params.has("link")
    ? await api.linked(params.get("link"), params.get("from"))
    : (params.get("id") ?? cited.document.id);
  const start = cited ? Math.floor(cited.chunks[0].ordinal / api.CHUNKS_PER_PAGE) * api.CHUNKS_PER_PAGE : 0;
  const { document: found, unit, chunks, next } = await api.wholeDocument(id, String(start));
  document.title = `${found.title || short(found.source)} · Weft`;
  const pattern = params.has("q") ? matcher(params.get("q")) : null;
  const list = el("ol", { class: "chunks", start: start + 1 });
  const more = el("button", { type: "button", class: "plain" });
  const add = (parts, following) => {
    list.append(...parts.map((part) => chunkItem(part, { unit, found, pattern, isTarget: part.id === chunk })));
    more.textContent = "Show more";
    more.hidden = !following;
    more.onclick = () =>
      api.wholeDocument(id, following).then(
        (page) => add(page.chunks, page.next),
        (error) => {
          more.textContent = `${problem(error)} Try again`;
        },
      );
  };
  add(chunks, next);
  const related = el("aside", { class: "side", "aria-label": "Related documents" });
  replace(
    main,
    el("p", { class: "row trail" }, link("documents", {}, {}, "Documents"), removal(found)),
    el("h1", {}, found.title || short(found.source)),
    el("p", { class: "citation whole" }, found.source),
    metadata(found),
    start ? el("p", {}, link("document", { id }, {}, "From the beginning")) : null,
    el("div", { class: "answer" }, el("div", { class: "found" }, list, more), related),
  );
  const target = main.querySelector(".target");
  target?.scrollIntoView({ block: "center" });
  target?.focus({ preventScroll: true });
  await showRelated(related, id);
}

function metadata(found) {
  const labels = Object.entries(found.metadata).filter(
    ([, value]) => value !== null && (!Array.isArray(value) || value.length),
  );
  if (!labels.length) return null;
  const shown = (value) =>
    Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value);
  return el(
    "details",
    {},
    el("summary", {}, "Metadata"),
    el(
      "dl",
      { class: "labels" },
      labels.map(([name, value]) => [el("dt", {}, name), el("dd", {}, shown(value))]),
    ),
  );
}

/** Return a chunk with its document; null if it was deleted and the document id is known. */
async function findChunk(id, { isNeeded }) {
  try {
    return await api.wholeDocument(id);
  } catch (error) {
    if (isNeeded || error.status !== 404) throw error;
    return null;
  }
}

function chunkItem(part, { unit, found, pattern, isTarget }) {
  const { start_line: first, end_line: last } = part;
  const range = first === last ? `${first}` : `${first}-${last}`;
  return el(
    "li",
    { class: isTarget ? "target" : null, tabindex: isTarget ? -1 : null },
    el(
      "div",
      { class: "quiet lines" },
      el("span", {}, part.heading.join(" › ")),
      el("span", { class: "number" }, first === last ? `${unit} ${first}` : `${unit}s ${first}–${last}`),
      copyButton("Copy", `${part.text}\n\n${found.source}:${range}`),
      openButton(part.id, `${found.source}:${range}`),
    ),
    passage(part.text, isTarget ? pattern : null, found.source),
  );
}

/** Show the documents related to this one, with the reasons. */
async function showRelated(box, id) {
  const { related } = await api.related(id, MAX_RELATED);
  if (!box.isConnected) return;
  replace(
    box,
    el(
      "section",
      { class: "related panel" },
      el("h2", {}, "Related documents"),
      related.length ? null : el("p", { class: "quiet" }, "No document is similar or connected."),
      el(
        "ul",
        {},
        related.map((item) =>
          el(
            "li",
            {},
            link(
              "document",
              { id: item.document.id, chunk: item.chunk_id },
              {},
              item.document.title || short(item.document.source),
            ),
            el("p", { class: "quiet" }, reasons(item)),
          ),
        ),
      ),
    ),
  );
}

/** Return why a document is related: similarity, names that both mention, and relations. */
function reasons({ cosine, shared, relations }) {
  const parts = [];
  if (relations.length) parts.push(`${relations[0].source} ${words(relations[0].type)} ${relations[0].target}`);
  if (shared.length)
    parts.push(
      `both mention ${shared.slice(0, 3).join(", ")}${shared.length > 3 ? ` and ${shared.length - 3} more` : ""}`,
    );
  if (cosine !== null) parts.push(`similarity ${digits(cosine)}`);
  return parts.join(" · ");
}

/** Return the button that deletes a document after a confirmation. */
export function removal(found, { onRemoved = () => (location.hash = "#/documents") } = {}) {
  const name = found.title || short(found.source);
  const outcome = el("span", { class: "problem", role: "alert" });
  const button = el(
    "button",
    { type: "button", class: "plain small danger", "aria-label": `Remove: ${name}` },
    "Remove",
  );
  button.addEventListener("click", async () => {
    const question = `Remove “${name}”? This deletes its ${plural(found.chunks, "chunk")} and derived data, but not the file itself.`;
    if (!(await confirmed(question, "Remove"))) return;
    try {
      await api.removeDocument(found.id);
      onRemoved();
    } catch (error) {
      replace(outcome, problem(error));
    }
  });
  return el("span", { class: "row removal" }, outcome, button);
}
