/* Filters of a question: folder, dates of conversations, method. They are part of the address of the page. */

import * as api from "./api.js";
import { el, link, words } from "./dom.js";

export const METHODS = {
  "": "chosen by the question",
  mix: "vector, keyword and graph",
  hybrid: "vector and keyword",
  vector: "vector: similar meaning",
  keyword: "keyword: shared words",
  graph: "graph: connected entities",
};
const NAMES = ["folder", "from", "to", "method"];

/** Return the filters of an address, without the empty ones. */
export function readFilters(params) {
  return Object.fromEntries(NAMES.map((name) => [name, params.get(name) ?? ""]).filter(([, value]) => value));
}

/** Return the fields of a query for these filters. */
export function toFields({ folder, from, to, method }) {
  return {
    ...(folder ? { source_prefix: folder } : {}),
    ...(from ? { after: from } : {}),
    ...(to ? { before: nextDay(to) } : {}),
    ...(method ? { method } : {}),
  };
}

/** The last day is included, but `before` is the first moment that is not. */
function nextDay(day) {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  date.setUTCDate(date.getUTCDate() + 1);
  return date.toISOString().slice(0, 10);
}

/** Return the fields of the form, folded unless a filter is set. The folders are listed when they are first needed. */
export function filterFields(filters) {
  const folders = el("datalist", { id: "folders" });
  const box = el(
    "details",
    { class: "filters", open: Object.keys(filters).length > 0 },
    el("summary", {}, "Filters"),
    el(
      "div",
      { class: "tools" },
      field("Folder", {
        name: "folder",
        value: filters.folder,
        list: "folders",
        placeholder: "all documents",
        maxlength: 1000,
      }),
      field("Conversations from", { name: "from", type: "date", value: filters.from }),
      field("until", { name: "to", type: "date", value: filters.to }),
      el(
        "label",
        {},
        "Method ",
        el(
          "select",
          { name: "method" },
          Object.entries(METHODS).map(([value, text]) =>
            el("option", { value, selected: value === (filters.method ?? "") }, text),
          ),
        ),
      ),
    ),
    folders,
  );
  const fill = async () => {
    if (!box.open || folders.firstChild) return;
    const names = await api.folders().catch(() => []);
    folders.append(...names.map((name) => el("option", { value: name })));
  };
  box.addEventListener("toggle", fill);
  return box;
}

const field = (label, attributes) => el("label", {}, `${label} `, el("input", { autocomplete: "off", ...attributes }));

/** Return the set filters in words, with a link that repeats the question without them; null if none is set. */
export function filterSummary(filters, question) {
  const parts = [];
  if (filters.folder) parts.push(`documents in ${filters.folder}`);
  if (filters.from || filters.to)
    parts.push(
      `conversations ${[filters.from && `from ${filters.from}`, filters.to && `until ${filters.to}`].filter(Boolean).join(" ")}`,
    );
  if (filters.method) parts.push(`method ${words(filters.method)}`);
  if (!parts.length) return null;
  return el(
    "p",
    { class: "quiet narrowed" },
    `Only ${parts.join("; ")}. The next question keeps these filters. `,
    link("ask", { q: question }, {}, "Search everything"),
  );
}
