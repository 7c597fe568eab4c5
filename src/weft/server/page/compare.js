/* View that compares methods side by side: what each channel found for one question. */

import * as api from "./api.js";
import { announce, digits, el, link, problem, replace, short } from "./dom.js";
import { readFilters, toFields } from "./filters.js";
import { passage } from "./passage.js";

const COLUMNS = [
  ["mix", "All channels", "The default: the three rankings fused into one."],
  ["vector", "Vector", "Passages with a similar meaning."],
  ["keyword", "Keyword", "Passages that share words (BM25)."],
  ["graph", "Graph", "Passages connected to entities of the question."],
];
const MAX_RESULTS = 10;

/** Show the rankings of the methods for a question, without the relevance threshold. */
export async function showCompare(main, params) {
  const question = params.get("q") ?? "";
  document.title = `Compare: ${question} · Weft`;
  const filters = readFilters(params);
  const fields = toFields(filters);
  const answers = await Promise.all(
    COLUMNS.map(([method]) =>
      api
        .ask(question, { fields: { ...fields, method, top_k: MAX_RESULTS }, gate: false, facts: false })
        .catch((error) => ({ error })),
    ),
  );
  const places = ranks(answers);
  replace(
    main,
    el("p", { class: "trail" }, link("ask", { q: question, ...filters }, {}, "Back to the answer")),
    el("h1", {}, "Compare methods"),
    el(
      "p",
      { class: "lead" },
      `“${question}”: the first ${MAX_RESULTS} passages of each method, without the relevance threshold.`,
    ),
    el(
      "div",
      { class: "columns" },
      COLUMNS.map((column, n) => shownColumn(column, answers[n], places)),
    ),
  );
  main.addEventListener("pointerover", (event) => mark(main, event.target));
  main.addEventListener("focusin", (event) => mark(main, event.target));
  announce("Methods compared");
}

/** Return the rank of each passage under each method. */
function ranks(answers) {
  const places = new Map();
  answers.forEach((answer, n) => {
    for (const { chunk, rank } of answer.results ?? []) {
      if (!places.has(chunk.id)) places.set(chunk.id, new Map());
      places.get(chunk.id).set(n, rank);
    }
  });
  return places;
}

function shownColumn([method, title, meaning], answer, places) {
  const results = answer.results ?? [];
  return el(
    "section",
    { class: `panel column ${method}`, "aria-label": title },
    el("h2", {}, title),
    el("p", { class: "quiet" }, meaning),
    answer.error ? el("p", { class: "problem" }, problem(answer.error)) : null,
    !answer.error && !results.length
      ? el("p", {}, `Found nothing: ${answer.graph_context?.skipped ?? "no passage matches"}.`)
      : null,
    el(
      "ol",
      {},
      results.map((result) => row(result, method, places.get(result.chunk.id))),
    ),
  );
}

function row({ rank, score, chunk, document: source }, method, places) {
  const own = COLUMNS.findIndex(([name]) => name === method);
  const others = [...places].filter(([n]) => n !== own).map(([n, other]) => `${COLUMNS[n][1].toLowerCase()} #${other}`);
  return el(
    "li",
    { "data-chunk": chunk.id, class: others.length ? null : "alone" },
    el("span", { class: "rank", "aria-hidden": "true" }, String(rank)),
    el(
      "div",
      {},
      link("document", { id: source.id, chunk: chunk.id }, {}, source.title || short(source.source)),
      el(
        "p",
        { class: "quiet clamp" },
        chunk.heading.at(-1) ?? opening(passage(chunk.text, null, source.source)),
      ),
      el(
        "p",
        { class: "quiet" },
        others.length ? `also ${others.join(", ")}` : "only here",
        ` · score ${digits(score)}`,
      ),
    ),
  );
}

/** Return the first words of a rendered passage; blocks are separated by spaces. */
const opening = (rendered) =>
  [...rendered.childNodes]
    .map((block) => block.textContent.trim())
    .join(" ")
    .slice(0, 120);

/** Highlight the same passage in every column. */
function mark(main, target) {
  const id = target.closest("[data-chunk]")?.dataset.chunk;
  for (const item of main.querySelectorAll("[data-chunk]")) item.classList.toggle("same", item.dataset.chunk === id);
}
