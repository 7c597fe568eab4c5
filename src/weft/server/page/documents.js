/* View of documents: list and upload. */

import * as api from "./api.js";
import { removal } from "./document.js";
import { announce, el, link, plural, problem, replace, short } from "./dom.js";

const MAX_LISTED = 20;
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
  const item = el(
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
  const onRemoved = () => {
    (item.nextElementSibling ?? item.previousElementSibling)?.querySelector("a")?.focus();
    item.remove();
    announce(`Removed: ${found.title || short(found.source)}`);
  };
  item.append(removal(found, { onRemoved }));
  return item;
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
    replace(box, receipt(ended, files));
    announce(`Indexing ${ended.state}`);
    await refresh();
  } catch (error) {
    replace(box, el("p", { class: "problem", role: "alert" }, problem(error)));
  } finally {
    indexing = null;
  }
}

/** Return the result of a job: counts, and each file with a link or the reason why it was skipped. */
function receipt(job, files) {
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
    el(
      "ul",
      {},
      files.slice(0, MAX_LISTED).map(({ name }) => fileItem(name, done.skipped_files)),
    ),
    files.length > MAX_LISTED ? el("p", { class: "quiet" }, `The first ${MAX_LISTED} files are listed.`) : null,
  );
}

function fileItem(name, skipped) {
  const found = skipped.find(({ source }) => source === `upload:${name}`);
  if (found)
    return el("li", { class: "quiet" }, `${name} skipped: ${found.reason}${found.detail ? `, ${found.detail}` : ""}`);
  return el("li", {}, link("document", { link: encodeURIComponent(name), from: "upload:" }, {}, name));
}
