/* Views of documents: list, upload, and one document with its chunks. */

import * as api from "./api.js";
import { announce, confirmed, el, link, plural, problem, replace, short } from "./dom.js";
import { passage } from "./passage.js";

/** Progress element of the running job, and the function that reloads the list when it ends. */
let indexing = null;
let refresh = null;

/** Show the list of documents, with an upload area. */
export async function showDocuments(main, params) {
  document.title = "Documents · Weft";
  const prefix = params.get("prefix") ?? "";
  const list = el("ul", { class: "documents" });
  const more = el("button", { type: "button", class: "plain", hidden: true }, "Show more");
  const empty = el("p", { class: "quiet", hidden: true }, "No documents are indexed yet.");
  let after = "";
  const load = async () => {
    const page = await api.documents(prefix, after);
    list.append(...page.documents.map(documentItem));
    after = page.next ?? "";
    more.hidden = !after;
    more.textContent = "Show more";
    empty.hidden = Boolean(list.firstChild);
  };
  refresh = async () => {
    after = "";
    replace(list);
    await load();
  };
  more.addEventListener("click", () =>
    load().catch((error) => {
      more.textContent = `${problem(error)} Try again`;
    }),
  );
  replace(
    main,
    el("h1", {}, "Documents"),
    el("p", { class: "lead" }, "Indexed documents. Results cite their passages."),
    dropZone(),
    list,
    empty,
    more,
  );
  await load();
}

function documentItem(found) {
  return el(
    "li",
    {},
    link(
      "document",
      { id: found.id },
      { class: "document" },
      el("strong", {}, found.title || short(found.source)),
      el("span", { class: "citation", title: found.source }, short(found.source)),
      el("span", { class: "number" }, plural(found.chunks, "chunk")),
    ),
  );
}

function dropZone() {
  const picker = el("input", { type: "file", id: "files", multiple: true, class: "unseen" });
  const zone = el(
    "label",
    { class: "drop", for: "files" },
    el("strong", {}, "Add documents"),
    el("span", { class: "quiet" }, "Choose files or drop them here"),
    picker,
  );
  // A running job stays visible after leaving and reopening the view.
  const progress = indexing ?? el("div", { class: "progress", role: "status" });
  const start = (files) => files.length && run([...files], progress);
  picker.addEventListener("change", () => start(picker.files));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    start(event.dataTransfer.files);
  });
  return el("section", { "aria-label": "Add documents" }, zone, progress);
}

/** Upload files and show the progress of their job until it ends. */
async function run(files, box) {
  const bar = el("progress", { max: files.length, value: 0, "aria-label": "Indexing" });
  const text = el("p", {}, `Uploading ${plural(files.length, "file")}…`);
  replace(box, bar, text);
  indexing = box;
  try {
    const job = await api.upload(files);
    const ended = await api.follow(job.id, (now) => {
      bar.max = now.total || files.length;
      bar.value = now.processed;
      text.textContent = now.total
        ? `${now.processed} of ${now.total} processed, ${plural(now.chunks, "chunk")}`
        : "Waiting…";
    });
    replace(box, receipt(ended));
    announce(`Indexing ${ended.state}`);
    await refresh();
  } catch (error) {
    replace(box, el("p", { class: "problem", role: "alert" }, problem(error)));
  } finally {
    indexing = null;
  }
}

function receipt(job) {
  if (job.error) return el("p", { class: "problem" }, problem(job.error));
  const done = job.receipt;
  if (!done) return el("p", {}, `The job is ${job.state}.`);
  return el(
    "div",
    { class: "receipt", "data-state": job.state },
    el(
      "p",
      {},
      el("strong", {}, `${plural(done.added, "document")} added`),
      `, ${done.changed} changed, ${done.unchanged} unchanged · `,
      `${plural(done.chunks, "chunk")} in ${done.seconds.toFixed(1)} s`,
    ),
    done.skipped_files.map((file) =>
      el(
        "p",
        { class: "quiet" },
        `${short(file.source)} skipped: ${file.reason}${file.detail ? `, ${file.detail}` : ""}`,
      ),
    ),
  );
}

/** Show a document's chunks with the requested one marked; of a long document, the page that contains it. */
export async function showDocument(main, params) {
  const chunk = params.get("chunk") ?? "";
  const cited = chunk && (await findChunk(chunk, { isNeeded: !params.has("id") }));
  const id = params.get("id") ?? cited.document.id;
  const start = cited ? Math.floor(cited.chunks[0].ordinal / api.CHUNKS_PER_PAGE) * api.CHUNKS_PER_PAGE : 0;
  const { document: found, unit, chunks, next } = await api.wholeDocument(id, String(start));
  document.title = `${found.title || short(found.source)} · Weft`;
  const labels = Object.entries(found.metadata).filter(
    ([, value]) => value !== null && (!Array.isArray(value) || value.length),
  );
  const list = el("ol", { class: "chunks", start: start + 1 });
  const more = el("button", { type: "button", class: "plain" });
  const add = (parts, following) => {
    list.append(...parts.map((part) => chunkItem(part, { unit, isTarget: part.id === chunk })));
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
  replace(
    main,
    el("p", { class: "row trail" }, link("documents", {}, {}, "Documents"), removal(found)),
    el("h1", {}, found.title || short(found.source)),
    el("p", { class: "citation whole" }, found.source),
    labels.length
      ? el(
          "details",
          {},
          el("summary", {}, "Metadata"),
          el(
            "dl",
            { class: "labels" },
            labels.map(([name, value]) => [
              el("dt", {}, name),
              el(
                "dd",
                {},
                Array.isArray(value)
                  ? value.join(", ")
                  : typeof value === "object"
                    ? JSON.stringify(value)
                    : String(value),
              ),
            ]),
          ),
        )
      : null,
    start ? el("p", {}, link("document", { id }, {}, "From the beginning")) : null,
    list,
    more,
  );
  const target = main.querySelector(".target");
  target?.scrollIntoView({ block: "center" });
  target?.focus({ preventScroll: true });
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

function chunkItem(part, { unit, isTarget }) {
  const { start_line: first, end_line: last } = part;
  return el(
    "li",
    { class: isTarget ? "target" : null, tabindex: isTarget ? -1 : null },
    el(
      "p",
      { class: "quiet lines" },
      part.heading.join(" › "),
      el("span", { class: "number" }, first === last ? `${unit} ${first}` : `${unit}s ${first}–${last}`),
    ),
    passage(part.text, null),
  );
}

/** Return the button that deletes a document after a confirmation. */
function removal(found) {
  const name = found.title || short(found.source);
  const outcome = el("span", { class: "problem", role: "alert" });
  const button = el("button", { type: "button", class: "plain small danger" }, "Remove");
  button.addEventListener("click", async () => {
    const question = `Remove “${name}”? This deletes its chunks and derived data, but not the file itself.`;
    if (!(await confirmed(question, "Remove"))) return;
    try {
      await api.removeDocument(found.id);
      location.hash = "#/documents";
    } catch (error) {
      replace(outcome, problem(error));
    }
  });
  return el("span", { class: "row removal" }, outcome, button);
}
