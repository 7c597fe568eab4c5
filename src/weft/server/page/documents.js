/* View of documents: list and upload. */

import * as api from "./api.js";
import { removal } from "./document.js";
import { announce, el, link, plural, problem, replace, short } from "./dom.js";

const MAX_LISTED = 20;
const MAX_DOCUMENTS = 5000;
/** Documents that a search or an order lists. */
const MAX_FOUND = 200;
/** The folders of so many documents are open. */
const MAX_OPEN = 40;
const byTitle = (a, b) => (a.title || a.source).localeCompare(b.title || b.source);
const ORDERS = {
  path: ["path, in folders", (a, b) => (a.source < b.source ? -1 : 1)],
  title: ["title", byTitle],
  chunks: ["largest first", (a, b) => b.chunks - a.chunks || byTitle(a, b)],
};
/** Progress element of the running job, and the function that reloads the list when it ends. */
let indexing = null;
let refresh = null;

/** Show the documents as a tree of folders, or as a list of those that a search finds, with an upload area. */
export async function showDocuments(main, params) {
  document.title = "Documents · Weft";
  const list = el("div", { class: "tree" });
  const total = el("p", { class: "quiet", role: "status" });
  const field = el("input", { type: "search", name: "text", placeholder: "title or path", autocomplete: "off" });
  const order = el(
    "select",
    { name: "order" },
    Object.entries(ORDERS).map(([value, [name]]) => el("option", { value }, name)),
  );
  let all = [];
  const show = () => {
    const wanted = field.value.trim().toLowerCase();
    const kept = all.filter(({ title, source }) => `${title}\n${source}`.toLowerCase().includes(wanted));
    const sorted = kept.toSorted(ORDERS[order.value][1]);
    const isTree = !wanted && order.value === "path";
    replace(list, isTree ? folderTree(sorted) : documentList(sorted.slice(0, MAX_FOUND)));
    const more = isTree || kept.length <= MAX_FOUND ? "" : `, the first ${MAX_FOUND} are listed`;
    total.textContent = all.length ? `${plural(kept.length, "document")}${more}` : "No documents are indexed yet.";
  };
  refresh = async () => {
    const { found, isCut } = await api.allDocuments(params.get("prefix") ?? "", MAX_DOCUMENTS);
    all = found;
    show();
    if (isCut) total.textContent += `, the first ${MAX_DOCUMENTS} by path`;
  };
  field.addEventListener("input", show);
  order.addEventListener("change", show);
  replace(
    main,
    el("h1", {}, "Documents"),
    el("p", { class: "lead" }, "Indexed documents. Results cite their passages."),
    dropZone(),
    el("form", { class: "tools", role: "search", on: { submit: (event) => event.preventDefault() } },
      el("label", {}, "Search ", field),
      el("label", {}, "Order ", order),
    ),
    total,
    list,
  );
  await refresh();
}

const documentList = (found) => el("ul", { class: "documents" }, found.map(documentItem));

/** Return the documents below their folders; a folder with one child is joined with it, a small tree and an only folder are open. */
function folderTree(found) {
  const root = { name: "", folders: new Map(), documents: [], count: found.length };
  for (const item of found) {
    let at = root;
    for (const name of item.source.split("/").slice(0, -1)) {
      if (!at.folders.has(name)) at.folders.set(name, { name, folders: new Map(), documents: [], count: 0 });
      at = at.folders.get(name);
      at.count += 1;
    }
    at.documents.push(item);
  }
  let top = root;
  while (!top.documents.length && top.folders.size === 1) [top] = top.folders.values();
  return branch(top, found.length <= MAX_OPEN);
}

function branch({ folders, documents }, isOpen) {
  return [
    [...folders.values()].map((folder) => {
      let [name, at] = [folder.name, folder];
      while (!at.documents.length && at.folders.size === 1) {
        [at] = at.folders.values();
        name += `/${at.name}`;
      }
      const box = el("details", { class: "folder", open: isOpen || folders.size === 1 }, el("summary", {}, name, el("span", { class: "quiet" }, ` ${at.count}`)));
      const fill = () => box.open && box.children.length < 2 && box.append(...[branch(at, isOpen)].flat(Infinity));
      box.addEventListener("toggle", fill);
      fill();
      return box;
    }),
    documents.length ? documentList(documents) : [],
  ];
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
