/* First line of an answer: the quoted sentence, and the sentences of a language model as they arrive. */

import * as api from "./api.js";
import { el, short } from "./dom.js";

/**
 * Return a section and fill it: with the quote, then with each written sentence. It has its room from the start, so
 * that the passages below do not move.
 *
 * It is hidden if nothing is quoted or written. A failure hides it too, because the passages are the answer then.
 */
export function answerLine(question, { results, gate, fields, signal }) {
  const isAsked = results.length > 0 && gate !== false;
  const waiting = el("p", { class: "quiet waiting" }, "Choosing the sentence that answers best…");
  const box = el("section", { class: "line panel", "aria-label": "Answer", hidden: !isAsked }, waiting);
  const written = el("div", { class: "written", "aria-live": "polite" });
  const show = (name, data) => {
    waiting.remove();
    if (name === "quote" && data.quote) box.prepend(quotation(data.quote, results));
    if (name === "sentence") written.append(sentence(data, results));
    if (name === "end" && data.sentences.length) {
      box.append(el("p", { class: "quiet" }, `Written by ${data.model}. Check the passages.`));
    }
    if (name === "end" && data.note) box.append(el("p", { class: "quiet" }, `No written answer: ${data.note}.`));
    box.hidden = !box.querySelector("blockquote, p");
  };
  box.append(written);
  if (isAsked) {
    api.answer(question, { fields, signal }, show).catch((error) => {
      waiting.remove();
      if (error.name !== "AbortError") box.hidden = !box.querySelector("blockquote, p");
    });
  }
  return box;
}

function quotation({ text, citation, chunk_id: chunk }, results) {
  const found = results.find((result) => result.chunk.id === chunk);
  return el(
    "figure",
    {},
    el("blockquote", {}, text),
    el("figcaption", { class: "quiet" }, found ? jump(found, short(citation)) : short(citation)),
  );
}

function sentence({ text, citations, supported }, results) {
  const marks = citations.map((citation) => {
    const found = results.find((result) => result.citation === citation);
    return found ? jump(found, `[${found.rank}]`) : el("span", { class: "quiet", title: citation }, `[${short(citation)}]`);
  });
  const doubt = supported ? null : el("span", { class: "unsupported" }, "not supported by the passages");
  return el("p", {}, `${text} `, marks, doubt);
}

/** Return a button that moves to a passage and opens the weaker matches if it is among them. */
function jump(result, label) {
  const title = `Passage ${result.rank}: ${result.citation}`;
  const move = () => {
    const card = [...document.querySelectorAll(".evidence article")].find((one) => one.dataset.chunk === result.chunk.id);
    const folded = card?.closest("details");
    if (folded) folded.open = true;
    card?.focus();
  };
  return el("button", { type: "button", class: "plain small", title, on: { click: move } }, label);
}
