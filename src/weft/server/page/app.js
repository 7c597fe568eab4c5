/* Entry point: routing by URL fragment, colours, key dialog, keyboard shortcuts. */

import * as api from "./api.js";
import { showAsk } from "./ask.js";
import { showCompare } from "./compare.js";
import { advice, announce, el, link, replace, sentence } from "./dom.js";
import { showDocument } from "./document.js";
import { showDocuments } from "./documents.js";
import { showEntities, showEntity } from "./entity.js";
import { showExplorer } from "./explorer/view.js";
import { showFacts } from "./facts.js";
import { showStatus } from "./status.js";
import { showTimeline } from "./timeline.js";

const VIEWS = {
  status: showStatus,
  ask: showAsk,
  compare: showCompare,
  entities: showEntities,
  entity: showEntity,
  graph: showExplorer,
  facts: showFacts,
  timeline: showTimeline,
  documents: showDocuments,
  document: showDocument,
};
VIEWS.unknown = showUnknown;
const PARENT = { compare: "ask", entity: "entities", document: "documents", timeline: "facts" };
const main = document.getElementById("main");
const dialog = document.getElementById("key-dialog");
const byId = (id) => document.getElementById(id);

/** Show the view named by the URL fragment. */
async function show() {
  const [name, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const view = VIEWS[name] ? name : name ? "unknown" : "ask";
  for (const tab of document.querySelectorAll("nav a, #namespace")) {
    if (tab.dataset.view === (PARENT[view] ?? view)) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  // Every view has its own element, so a late response writes into a detached one.
  const box = el(
    "div",
    { class: `view-${view}`, "aria-busy": "true" },
    view === "ask" ? null : el("p", { class: "quiet searching" }, "Loading…"),
  );
  const isTyping = document.activeElement?.id === "question" && matchMedia("(hover: hover)").matches;
  replace(main, box);
  window.scrollTo(0, 0);
  try {
    const done = VIEWS[view](box, new URLSearchParams(query));
    if (isTyping) byId("question")?.focus({ preventScroll: true });
    await done;
    if (box.isConnected && view !== "ask") announce(document.title.replace(/ · Weft$/, ""));
  } catch (error) {
    if (box.isConnected) fail(error, box, PARENT[view]);
  }
  // The link that had the focus was removed, so the focus moves here and not to the top of the page.
  if (box.isConnected && document.activeElement === document.body) main.focus({ preventScroll: true });
  box.setAttribute("aria-busy", "false");
}

/** Say that no view has the address. */
function showUnknown(main) {
  document.title = "Unknown address · Weft";
  replace(
    main,
    el("h1", {}, "Unknown address"),
    el("p", { class: "lead" }, `The page has no view ${location.hash.split("?")[0]}.`),
    el("p", {}, link("ask", {}, { class: "button primary" }, "Ask a question")),
  );
}

function fail(error, view, parent) {
  if (error.status === 401 || error.code === "which_namespace" || error.code === "wrong_namespace") askForKey(error);
  const box = view.querySelector(".answer") ?? view;
  replace(
    box,
    el(
      "section",
      { class: "problem panel", role: "alert" },
      el(view.querySelector("h1") ? "h2" : "h1", {}, sentence(error.message)),
      advice(error) && !(parent && error.status === 404) ? el("p", {}, advice(error)) : null,
      el(
        "div",
        { class: "row" },
        el("button", { type: "button", class: "plain", on: { click: start } }, "Try again"),
        parent ? link(parent, {}, { class: "button plain" }, `All ${parent}`) : null,
      ),
    ),
  );
  if (!(error instanceof api.Refusal)) console.error(error);
}

/* Key dialog */

function askForKey(error) {
  const { key, namespace } = api.credentials();
  byId("key-text").value = key;
  byId("key-namespace").value = namespace;
  byId("key-problem").hidden = !error;
  byId("key-problem").textContent = error ? sentence(error.message) : "";
  if (!dialog.open) dialog.showModal();
  byId(error?.code?.endsWith("namespace") ? "key-namespace" : "key-text").focus();
}

byId("key").addEventListener("click", () => askForKey());
byId("key-cancel").addEventListener("click", () => dialog.close());
byId("key-form").addEventListener("submit", () => {
  api.keepCredentials({ key: byId("key-text").value.trim(), namespace: byId("key-namespace").value.trim() });
  start();
});

/* Colours */

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = byId("theme");

function showTheme() {
  const isDark = (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  theme.setAttribute("aria-pressed", String(isDark));
  return isDark;
}

theme.addEventListener("click", () => {
  const next = showTheme() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("weft-theme", next);
  showTheme();
  announce(`${next} colours`);
});
dark.addEventListener("change", showTheme);

/* Keyboard */

const KEYS = [
  ["/", "to the question"],
  ["j, k", "next and previous passage, document or fact"],
  ["Enter", "open what has the focus"],
  ["g then a, e, g, f, d", "to Ask, Entities, Graph, Facts, Documents"],
  ["Escape", "close, and back to the question"],
  ["?", "this list"],
];
const GOES = { a: "ask", e: "entities", g: "graph", f: "facts", d: "documents" };
let isGoing = false;

function showKeys() {
  const close = el("button", { class: "plain", value: "" }, "Close");
  const box = el(
    "dialog",
    { class: "question", "aria-labelledby": "keys-list" },
    el("h2", { id: "keys-list" }, "Keys"),
    el(
      "dl",
      { class: "labels" },
      KEYS.map(([key, meaning]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, meaning)]),
    ),
    el("form", { method: "dialog", class: "row end" }, close),
  );
  document.body.append(box);
  box.addEventListener("close", () => box.remove());
  box.showModal();
}

/** Move the focus through the passages, documents, facts or entities of the view. */
function step(by) {
  const items = [...main.querySelectorAll("article, .document, .fact .subject, .entity, .choice")].filter(
    (item) => item.offsetParent,
  );
  const at = items.indexOf(document.activeElement);
  const next = items[at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(Math.max(at + by, 0), items.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, textarea, select");
  if (event.key === "Escape" && !isTyping && !document.querySelector("dialog[open]")) byId("question")?.focus();
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (isGoing && GOES[event.key]) location.hash = `#/${GOES[event.key]}`;
  isGoing = event.key === "g" && !isGoing;
  if (event.key === "/") {
    event.preventDefault();
    if (!byId("question")) location.hash = "#/ask";
    byId("question")?.focus();
    byId("question")?.select();
  } else if (event.key === "?") showKeys();
  else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

async function start() {
  showTheme();
  await show();
  try {
    byId("namespace").textContent = `Status · ${(await api.stats()).namespace}`;
  } catch (error) {
    byId("namespace").textContent = "Status";
  }
}

window.addEventListener("hashchange", show);
start();
