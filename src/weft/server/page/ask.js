/* Ask a question: the verdict, the evidence, what is remembered, and the graph around it. */

import * as api from "./api.js";
import { address, announce, count, el, link, percent, plural, replace, short } from "./dom.js";
import { evidenceList } from "./evidence.js";
import { factList } from "./facts.js";
import { Graph } from "./graph.js";

const VERDICTS = {
  ok: ["Answered", "The passages below are likely to answer the question."],
  low_confidence: ["Low confidence", "The passages below may not answer the question. Read them with care."],
  no_match: ["No confident match", "Nothing stored here answers the question, so nothing is shown as an answer."],
  degraded: ["Degraded", "Part of the engine could not be used; the answer is less good than usual."],
};
let underWay = null;

/** Show the question's field, and the answer where there is a question. */
export function showAsk(main, params) {
  const question = params.get("q") ?? "";
  const answer = el("div", { class: "answer" });
  replace(main, askForm(question), answer);
  main.classList.toggle("welcome", !question);
  document.title = question ? `${question} · Weft` : "Weft";
  if (question) return find(question, answer, { gate: params.get("gate") === "off" ? false : undefined });
  document.getElementById("question").focus({ preventScroll: true });
  return welcome(answer);
}

function askForm(question) {
  const field = el("input", {
    id: "question",
    type: "search",
    name: "q",
    value: question,
    placeholder: "Ask what your documents know",
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
          const to = address("ask", { q: text });
          if (to === location.hash) window.dispatchEvent(new HashChangeEvent("hashchange"));
          else location.hash = to;
        },
      },
    },
    el("h1", { class: question ? "unseen" : null }, question ? `Answer to: ${question}` : "Ask, and see why"),
    el(
      "div",
      { class: "field" },
      field,
      el("kbd", { "aria-hidden": "true" }, "/"),
      el("button", { class: "primary" }, "Ask"),
    ),
  );
}

async function find(question, box, { gate }) {
  underWay?.abort();
  underWay = new AbortController();
  replace(box, el("p", { class: "quiet searching" }, "Searching…"));
  const began = performance.now();
  let answer;
  try {
    answer = await api.ask(question, { gate, signal: underWay.signal });
  } catch (error) {
    if (error.name === "AbortError") return;
    throw error;
  }
  const seconds = (performance.now() - began) / 1000;
  const graph = new Graph();
  const side = el("div", { class: "side" });
  const left = el(
    "div",
    { class: "found" },
    verdict(answer, seconds, gate),
    answer.results.length ? evidenceList(answer) : rejected(answer, question),
  );
  const facts = answer.facts?.facts ?? [];
  if (facts.length) {
    left.append(
      el(
        "section",
        { class: "remembered", "aria-labelledby": "remembered" },
        el("h2", { id: "remembered" }, "Remembered"),
        el("p", { class: "quiet" }, "Facts that bear on the question, best first."),
        factList(facts.slice(0, 6)),
      ),
    );
  }
  if (!box.isConnected) return;
  replace(box, left, side);
  announce(`${VERDICTS[answer.status][0]}, ${plural(answer.results.length, "passage")}`);
  await drawGraph(graph, answer, side);
}

function verdict(answer, seconds, gate) {
  const [name, passages] = VERDICTS[answer.status];
  const meaning =
    answer.status === "ok" && !answer.results.length
      ? "No passage is good enough; what is remembered answers the question."
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
      el("strong", { class: "status", "data-status": answer.status }, isOpen ? "Ranking as it is" : name),
      isOpen ? null : el("span", { class: "confidence" }, meter, `confidence ${percent(answer.confidence)}`),
      el("a", { class: "jump", href: "#graph", on: { click: toGraph } }, "Graph"),
      el("span", { class: "quiet cost" }, `${plural(answer.results.length, "passage")} · ${seconds.toFixed(2)} s`),
    ),
    el("p", {}, isOpen ? "The gate is off: these passages come first, which does not mean that they answer." : meaning),
    answer.degraded ? el("p", { class: "reason" }, el("b", {}, "Because: "), answer.degraded) : null,
    answer.results.length ? answer.notes.map((note) => el("p", { class: "quiet" }, note)) : null,
    answer.results.length ? dropped(answer) : null,
  );
}

function toGraph(event) {
  event.preventDefault();
  document.getElementById("graph")?.scrollIntoView({ block: "start" });
}

function dropped(answer) {
  const reasons = Object.entries(answer.dropped);
  return reasons.length
    ? el(
        "p",
        { class: "quiet" },
        reasons.map(([reason, times]) => `${plural(times, "passage")} left out: ${reason}`).join("; "),
      )
    : null;
}

/** Say what came closest and why it was not shown. */
function rejected(answer, question) {
  const { rejected: closest } = answer;
  return el(
    "section",
    { class: "rejected panel", "aria-label": "What was rejected" },
    el("h2", {}, "What came closest, and why it is not shown"),
    closest
      ? el(
          "p",
          {},
          el("code", { title: closest.citation }, short(closest.citation)),
          ` scored ${closest.score.toFixed(2)}: `,
          closest.reason,
          ".",
        )
      : el("p", {}, "Nothing was found at all."),
    dropped(answer),
    link("ask", { q: question, gate: "off" }, { class: "button plain" }, "Show the ranking anyway"),
  );
}

/** Draw the entities the answer went through, then what is next to the first of them. */
async function drawGraph(graph, answer, side) {
  const context = answer.graph_context;
  const paths = answer.results.flatMap((result) => result.source.path ?? []).filter((step) => step.weight > 0);
  for (const entity of context?.entities ?? []) graph.add(entity);
  for (const step of paths) [step.source, step.target].forEach((name) => graph.points.has(name) || graph.add({ name }));
  for (const relation of [...(context?.relationships ?? []), ...paths]) graph.relate(relation);
  if (!graph.points.size) {
    const why = context?.skipped ?? "the graph was not asked";
    replace(
      side,
      el(
        "section",
        { class: "graph panel empty", id: "graph", "aria-label": "Graph around the answer" },
        el("h2", {}, "Graph"),
        el("p", { class: "quiet" }, `Nothing to draw: ${why}.`),
      ),
    );
    return;
  }
  const starts = context?.recognised ?? [];
  starts.forEach((name) => graph.points.has(name) && (graph.points.get(name).isStart = true));
  replace(side, graph.element);
  graph.measure();
  graph.draw();
  const first = starts.find((name) => graph.points.has(name)) ?? [...graph.points.keys()][0];
  await graph.begin(first, 8);
}

async function welcome(box) {
  const [held, { entities }] = await Promise.all([api.stats(), api.topEntities(14)]);
  if (!held.documents) {
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
          ["documents", held.documents],
          ["chunks", held.chunks],
          ["entities", held.entities],
          ["relations", held.relations],
          ["facts", held.facts],
        ].map(([name, value]) => el("li", {}, el("b", {}, count(value)), name)),
      ),
      entities.length ? el("p", { class: "quiet" }, "Mentioned most") : null,
      el(
        "div",
        { class: "chips" },
        entities.map((entity) => link("entity", { name: entity.name }, { class: "chip" }, entity.name)),
      ),
    ),
  );
}
