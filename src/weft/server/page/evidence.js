/* List of evidence: text, citation, channels, and the explanation of each passage. */

import { copyButton, digits, el, link, percent, plural, short, words } from "./dom.js";
import { marked, matcher } from "./markdown/highlight.js";
import { openButton } from "./editor.js";
import { passage } from "./passage.js";

const CHANNELS = ["vector", "keyword", "graph"];
const CHANNEL_LABELS = {
  vector: "similar meaning",
  keyword: "shared words",
  graph: "connected to entities of the question",
};

/** A passage after a fall of the score to less than this share starts the weaker matches. */
const GAP = 0.1;

/** Return how many passages come before the largest fall of the score, all of them without a clear fall. */
export function countStrong(results) {
  let [strong, deepest] = [results.length, GAP];
  for (let n = 1; n < results.length; n += 1) {
    const share = results[n].score / results[n - 1].score;
    if (results[n - 1].score > 0 && share < deepest) [strong, deepest] = [n, share];
  }
  return strong;
}

/** Return the evidence with arrow-key navigation; passages after the gap in the scores are folded. */
export function evidenceList(answer) {
  const strong = countStrong(answer.results);
  const weak = answer.results.slice(strong);
  const first = passageList(answer.results.slice(0, strong), answer, "Evidence");
  if (!weak.length) return first;
  return [
    first,
    el(
      "details",
      { class: "weaker" },
      el("summary", {}, plural(weak.length, "weaker match", "weaker matches")),
      passageList(weak, answer, "Weaker matches"),
    ),
  ];
}

/** Return a section with the passages of stated neighbours; null without any. */
export function connectedSection(answer) {
  if (!answer.connected.length) return null;
  return el(
    "section",
    { class: "connected", "aria-labelledby": "connected" },
    el("h2", { id: "connected" }, "Connected"),
    el("p", { class: "quiet" }, "Passages about stated neighbours of what the question names."),
    passageList(answer.connected, answer, "Connected passages"),
  );
}

function passageList(results, answer, label) {
  const list = el("ol", { class: "evidence", "aria-label": label });
  for (const result of results) list.append(el("li", {}, card(result, answer)));
  const cards = [...list.querySelectorAll("article")];
  list.addEventListener("keydown", (event) => {
    const at = cards.indexOf(event.target);
    if (at < 0) return;
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: cards.length - 1 }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      if (next < 0) document.getElementById("question").focus();
      else cards[Math.min(next, cards.length - 1)].focus();
    } else if (event.key === "Enter") {
      cards[at].querySelector(".why").click();
    }
  });
  list.addEventListener("keydown", (event) => {
    const article = event.target.closest("article");
    const button = article?.querySelector(".why[aria-expanded=true]");
    if (event.key !== "Escape" || !button) return;
    event.stopPropagation();
    button.click();
    article.focus();
  });
  return list;
}

function card(result, answer) {
  const { chunk, document: source, rank } = result;
  const id = result.neighbour_of ? `why-connected-${rank}` : `why-${rank}`;
  const reasons = el("div", { class: "reasons", id, hidden: true });
  const why = el(
    "button",
    { type: "button", class: "why plain small", "aria-expanded": "false", "aria-controls": id },
    "Why this?",
  );
  why.addEventListener("click", () => {
    const isOpen = why.getAttribute("aria-expanded") === "true";
    why.setAttribute("aria-expanded", String(!isOpen));
    reasons.hidden = isOpen;
    if (!isOpen && !reasons.firstChild) reasons.append(...explain(result, answer));
  });
  const pattern = matcher(answer.query, result.names);
  const text = passage(chunk.text, pattern, source.source);
  const place = { id: source.id, chunk: chunk.id, q: answer.query };
  const title = source.title || short(source.source);
  return el(
    "article",
    { tabindex: 0, "aria-label": `${rank}. ${title}`, "data-chunk": chunk.id },
    el(
      "header",
      {},
      el("span", { class: "rank", "aria-hidden": "true" }, String(rank)),
      el(
        "div",
        { class: "where" },
        el(
          "h2",
          {},
          link("document", place, {}, ...marked(title, pattern)),
          chunk.heading.map((part) => el("span", { class: "crumb" }, ...marked(part.replaceAll("`", ""), pattern))),
        ),
        link("document", place, { class: "citation", title: result.citation }, short(result.citation)),
        source.lost ? el("span", { class: "lost" }, "file not found") : null,
      ),
      el(
        "span",
        { class: "score", title: result.neighbour_of ? "Score of the connection" : "Fused score" },
        digits(result.score),
      ),
    ),
    result.neighbour_of ? pathway(result.source, answer)[0] : null,
    folded(text),
    el(
      "footer",
      {},
      el(
        "ul",
        { class: "channels", "aria-label": "Channels" },
        channelsOf(result).map((name) =>
          el(
            "li",
            {
              class: `channel ${name}`,
              title: `${name}: ${CHANNEL_LABELS[name] || "channel"}, score ${digits(result.channels[name].score)}`,
            },
            name,
            el("b", {}, `#${result.channels[name].rank}`),
            el("span", { class: "number" }, digits(result.channels[name].score)),
          ),
        ),
      ),
      copyButton("Copy", `${chunk.text}\n\n${result.citation}`),
      openButton(chunk.id, result.citation),
      why,
    ),
    reasons,
  );
}

/** Return a passage; a long one is folded, with a button to unfold it. */
function folded(text) {
  if (text.textContent.length < 620 && text.querySelectorAll("p, li, tr, pre, .formula").length < 12) return text;
  // A highlighted sentence must not be hidden.
  const evident = text.querySelector(".evident");
  if (evident && text.textContent.indexOf(evident.textContent) > 450) return text;
  text.classList.add("folded");
  const button = el("button", { type: "button", class: "unfold plain small", "aria-expanded": "false" }, "Show all");
  button.addEventListener("click", () => {
    const isFolded = text.classList.toggle("folded");
    button.textContent = isFolded ? "Show all" : "Show less";
    button.setAttribute("aria-expanded", String(!isFolded));
  });
  return [text, button];
}

/** Return the channels that found a result; those without a label come last. */
function channelsOf(result) {
  const others = Object.keys(result.channels).filter((name) => !CHANNELS.includes(name));
  return [...CHANNELS.filter((name) => result.channels[name]), ...others];
}

/** Return the explanation of a result. */
function explain(result, answer) {
  const found = channelsOf(result);
  const missing = CHANNELS.filter((name) => !result.channels[name]);
  return [
    el("h3", {}, "How it was found"),
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["Channel", "Rank", "Score"].map((name) => el("th", { scope: "col" }, name)),
          el("td"),
        ),
      ),
      el(
        "tbody",
        {},
        found.map((name) => channelRow(name, result.channels[name], answer.counts[name])),
        missing.map((name) =>
          el(
            "tr",
            { class: "missing" },
            el("th", { scope: "row" }, el("span", { class: `channel ${name}` }, name)),
            el("td", { colspan: 3 }, answer.counts[name] ? "did not find it" : "found nothing"),
          ),
        ),
      ),
    ),
    result.names.length
      ? el(
          "p",
          {},
          "Rare exact name match: ",
          result.names.map((name) => el("code", {}, name)),
          ".",
        )
      : null,
    reranked(result, answer),
    result.source.path?.length ? [el("h3", {}, "Path through the graph"), pathway(result.source, answer)] : null,
    el(
      "p",
      { class: "quiet" },
      result.neighbour_of
        ? `Neighbour of ${result.neighbour_of}; score of the connection ${digits(result.score)}. `
        : `Fused score ${digits(result.score)}; best rank in channel ${result.source.type}. `,
      `Method ${answer.method}: ${answer.reason || "as requested"}.`,
    ),
  ]
    .flat(Infinity)
    .filter(Boolean);
}

/** Return score and former rank from the reranker, or why it was not used; null without a reranker. */
function reranked(result, answer) {
  if (!answer.rerank) return null;
  const { model, count, skipped } = answer.rerank;
  if (!result.rerank)
    return skipped ? el("p", { class: "rerank" }, `Reranker ${model} was not used: ${skipped}.`) : null;
  const { former_rank, score } = result.rerank;
  const outcome =
    score === null
      ? `Reranker ${model} scored ${count} passages, not this one`
      : `Reranker ${model}: score ${digits(score)}`;
  return el("p", { class: "rerank" }, `${outcome}; former rank ${former_rank}.`);
}

function channelRow(name, hit, of) {
  const bar = el("span", { class: `fill ${name}` });
  bar.style.width = `${Math.max(4, 100 * (1 - (hit.rank - 1) / Math.max(of || 1, 10)))}%`;
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      el("span", { class: `channel ${name}` }, name),
      el("span", { class: "means" }, CHANNEL_LABELS[name] || ""),
    ),
    el("td", {}, `${hit.rank}`, of ? el("span", { class: "quiet" }, ` of ${of}`) : ""),
    el("td", { class: "number" }, digits(hit.score)),
    el("td", { class: "track", "aria-hidden": "true" }, bar),
  );
}

/** Return the path of entities and weighted relations to a passage. */
function pathway(source, answer) {
  const steps = source.path;
  const row = el("div", { class: "pathway" }, entityChip(steps[0].source));
  for (const step of steps) {
    const isLast = step.weight === 0;
    row.append(el("span", { class: "way" }, words(step.type), step.weight ? el("b", {}, digits(step.weight)) : ""));
    row.append(
      isLast ? el("span", { class: "chip end", title: step.target }, short(step.target)) : entityChip(step.target),
    );
  }
  const graph = answer.graph_context;
  return [
    row,
    el(
      "p",
      { class: "quiet" },
      graph?.found_by === "meaning"
        ? "The question does not name the first entity, but is similar to it in meaning. "
        : "",
      graph ? `Trust in the graph: ${percent(graph.trust)}. ` : "",
      source.graph_expansion ? `Found by the expanded query “${source.graph_expansion}”.` : "",
    ),
  ];
}

const entityChip = (name) => link("entity", { name }, { class: "chip" }, name);
