/* View of a query: verdict, evidence, relevant facts, and the graph around the results. */

import { answerLine } from "./answer.js";
import * as api from "./api.js";
import { address, announce, count, el, link, percent, plural, replace, sentence, short } from "./dom.js";
import { connectedSection, evidenceList } from "./evidence.js";
import { factList } from "./facts.js";
import { filterFields, filterSummary, readFilters, toFields } from "./filters.js";
import { Graph } from "./graph.js";
import { historyList, remember } from "./history.js";
import { relationList } from "./relations.js";

const VERDICTS = {
  ok: ["Relevant passages found", "The passages below are likely to answer the question."],
  low_confidence: ["Possibly relevant passages", "The passages below may not answer the question. Check them."],
  no_match: ["Nothing relevant found", "No passage reaches the relevance threshold."],
  degraded: ["Incomplete results", "Part of the engine was unavailable. Results may be missing or ranked worse."],
};
/** Controller of the query in progress. */
let pending = null;

/** Show the query field, and the results if there is a query. */
export function showAsk(main, params) {
  const question = params.get("q") ?? "";
  const answer = el("div", { class: "answer" });
  const filters = readFilters(params);
  replace(main, askForm(question, filters), answer);
  main.classList.toggle("welcome", !question);
  document.title = question ? `${question} · Weft` : "Weft";
  if (question) return find(question, answer, { filters, gate: params.get("gate") === "off" ? false : undefined });
  document.getElementById("question").focus({ preventScroll: true });
  return welcome(answer);
}

function askForm(question, filters) {
  const field = el("input", {
    id: "question",
    type: "search",
    name: "q",
    value: question,
    placeholder: "Ask a question about your documents",
    "aria-label": "Question",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 2000,
    enterkeyhint: "search",
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      const first = document.querySelector(".evidence article");
      if (first) event.preventDefault();
      first?.focus();
    } else if (event.key === "Escape") {
      field.blur();
    }
  });
  return el(
    "form",
    {
      class: "ask",
      role: "search",
      on: {
        submit: (event) => {
          event.preventDefault();
          const text = field.value.trim();
          if (!text) return;
          const given = [...new FormData(event.target)].filter(([name, value]) => name !== "q" && value.trim());
          const to = address("ask", { q: text, ...Object.fromEntries(given) });
          if (to === location.hash) window.dispatchEvent(new HashChangeEvent("hashchange"));
          else location.hash = to;
        },
      },
    },
    el("h1", { class: question ? "unseen" : null }, question ? `Results for: ${question}` : "Ask your documents"),
    el(
      "div",
      { class: "field" },
      field,
      el("kbd", { "aria-hidden": "true" }, "/"),
      el("button", { class: "primary" }, "Ask"),
    ),
    filterFields(filters),
  );
}

async function find(question, box, { filters, gate }) {
  pending?.abort();
  pending = new AbortController();
  replace(box, el("p", { class: "quiet searching" }, "Searching…"));
  const began = performance.now();
  let answer;
  try {
    answer = await api.ask(question, { gate, fields: toFields(filters), signal: pending.signal });
  } catch (error) {
    if (error.name === "AbortError") return;
    throw error;
  }
  const seconds = (performance.now() - began) / 1000;
  remember(question, filters, { status: answer.status, count: answer.results.length });
  const graph = new Graph();
  const side = el("div", { class: "side" });
  const left = el(
    "div",
    { class: "found" },
    verdict(answer, { seconds, gate, filters }),
    answerLine(question, { results: answer.results, gate, fields: toFields(filters), signal: pending.signal }),
    relationList(answer.relations),
    answer.results.length ? evidenceList(answer) : rejected(answer, question, filters),
    connectedSection(answer),
  );
  const facts = answer.facts?.facts ?? [];
  if (facts.length) {
    left.append(
      el(
        "section",
        { class: "remembered", "aria-labelledby": "remembered" },
        el("h2", { id: "remembered" }, "Facts"),
        el("p", { class: "quiet" }, "Facts relevant to the question, best first."),
        factList(facts.slice(0, 6)),
      ),
    );
  }
  if (!box.isConnected) return;
  replace(box, left, side);
  announce(`${VERDICTS[answer.status][0]}, ${plural(answer.results.length, "passage")}`);
  await drawGraph(graph, answer, side);
}

function verdict(answer, { seconds, gate, filters }) {
  const [name, passages] = VERDICTS[answer.status];
  const meaning =
    answer.status === "ok" && !answer.results.length
      ? "No passage reaches the relevance threshold, but facts answer the question."
      : passages;
  const isOpen = gate === false;
  const shown = isOpen ? "unchecked" : answer.status;
  const meter = el(
    "span",
    {
      class: "meter",
      role: "meter",
      "aria-label": "Confidence",
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-valuenow": Math.round(answer.confidence * 100),
      "aria-valuetext": percent(answer.confidence),
    },
    el("span", { class: "fill" }),
  );
  meter.firstChild.style.width = `${Math.round(answer.confidence * 100)}%`;
  return el(
    "section",
    { class: `verdict ${shown}`, "aria-label": "Verdict" },
    el(
      "div",
      { class: "row" },
      el("strong", { class: "status", "data-status": answer.status }, isOpen ? "Unfiltered ranking" : name),
      isOpen ? null : el("span", { class: "confidence" }, meter, `confidence ${percent(answer.confidence)}`),
      el("a", { class: "jump", href: "#graph", on: { click: toGraph } }, "Graph"),
      el("span", { class: "quiet cost" }, `${plural(answer.results.length, "passage")} · ${seconds.toFixed(2)} s`),
    ),
    el("p", {}, isOpen ? "The relevance threshold is off. The best-ranked passages may be irrelevant." : meaning),
    answer.degraded ? el("p", { class: "reason" }, el("b", {}, "Reason: "), answer.degraded) : null,
    answer.results.length ? answer.notes.map((note) => el("p", { class: "quiet" }, sentence(note))) : null,
    answer.results.length ? dropped(answer) : null,
    filterSummary(filters, answer.query),
    el("p", {}, link("compare", { q: answer.query, ...filters }, {}, "Compare methods")),
  );
}

function toGraph(event) {
  event.preventDefault();
  document.getElementById("graph")?.scrollIntoView({ block: "start" });
}

function dropped(answer) {
  const reasons = Object.entries(answer.dropped).map(
    ([reason, times]) => `${plural(times, "passage")} omitted: ${reason}`,
  );
  return reasons.length ? el("p", { class: "quiet" }, reasons.join("; ")) : null;
}

/** Return the closest passage with the reason for its rejection. */
function rejected(answer, question, filters) {
  const { rejected: closest } = answer;
  return el(
    "section",
    { class: "rejected panel", "aria-label": "Rejected passage" },
    el("h2", {}, "Closest passage, and why it is not shown"),
    closest
      ? el(
          "p",
          {},
          el("code", { title: closest.citation }, short(closest.citation)),
          ` scored ${closest.score.toFixed(2)}: `,
          closest.reason,
          ".",
        )
      : el("p", {}, "No passage was found."),
    dropped(answer),
    link("ask", { q: question, ...filters, gate: "off" }, { class: "button plain" }, "Show the ranking anyway"),
  );
}

/** Draw the entities of the results, then the neighbours of the first one. */
async function drawGraph(graph, answer, side) {
  const context = answer.graph_context;
  const paths = [...answer.results, ...answer.connected].flatMap((result) => result.source.path ?? []).filter((step) => step.weight > 0);
  for (const entity of context?.entities ?? []) graph.add(entity);
  for (const step of paths) [step.source, step.target].forEach((name) => graph.points.has(name) || graph.add({ name }));
  for (const relation of [...(context?.relationships ?? []), ...paths]) graph.relate(relation);
  if (!graph.points.size) {
    const why = context?.skipped ?? "the graph was not used";
    replace(
      side,
      el(
        "section",
        { class: "graph panel empty", id: "graph", "aria-label": "Graph around the results" },
        el("h2", {}, "Graph"),
        el("p", { class: "quiet" }, `Nothing to draw: ${why}.`),
      ),
    );
    return;
  }
  const starts = context?.recognised ?? [];
  replace(side, graph.element);
  graph.draw();
  const first = starts.find((name) => graph.points.has(name)) ?? [...graph.points.keys()][0];
  await graph.begin(first, 8);
}

async function welcome(box) {
  const [stats, { entities }] = await Promise.all([api.stats(), api.topEntities(14)]);
  if (!stats.documents) {
    replace(
      box,
      el(
        "div",
        { class: "start" },
        el("p", {}, "Nothing is indexed in this namespace yet."),
        link("documents", {}, { class: "button primary" }, "Add documents"),
      ),
    );
    return;
  }
  replace(
    box,
    el(
      "div",
      { class: "start" },
      el(
        "ul",
        { class: "figures" },
        [
          ["documents", stats.documents],
          ["chunks", stats.chunks],
          ["entities", stats.entities],
          ["relations", stats.relations],
          ["facts", stats.facts],
        ].map(([name, value]) => el("li", {}, el("b", {}, count(value)), name)),
      ),
      historyList(VERDICTS),
      entities.length ? el("p", { class: "quiet" }, "Most mentioned entities") : null,
      el(
        "div",
        { class: "chips" },
        entities.map((entity) => link("entity", { name: entity.name }, { class: "chip" }, entity.name)),
      ),
    ),
  );
}
