/* Highlights in rendered passages: words of the question, and the sentences with most of them. */

import { el } from "../dom.js";

const STOP_WORDS = new Set(
  (
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it its " +
    "me my no not of on or our should so than that the their them then there these they this those to was we " +
    "were what when where which who whom why will with would you your about after all any happens happen out " +
    "up off over"
  ).split(" "),
);
/** A passage has at most this many highlighted sentences. */
const MAX_SENTENCES = 2;
const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** Return a pattern for the content words of a question, or null if it has none. */
export function matcher(question, names = []) {
  const found = new Set(names.filter(Boolean).map(escape));
  for (const [run] of question.matchAll(/\p{Script=Han}+/gu)) {
    for (let i = 0; i + 1 < run.length; i += 1) found.add(escape(run.slice(i, i + 2)));
  }
  for (const [word] of question.toLowerCase().matchAll(/[\p{L}\p{N}][\p{L}\p{N}_.-]*/gu)) {
    const plain = word.replace(/[.-]+$/, "");
    if (plain.length < 2 || STOP_WORDS.has(plain) || /\p{Script=Han}/u.test(plain)) continue;
    const stem = plain.length > 4 ? plain.replace(/(ing|ed|es|s|e)$/, "") : plain;
    found.add(`(?<![\\p{L}\\p{N}])${escape(stem)}\\p{L}{0,4}(?![\\p{L}\\p{N}])`);
  }
  return found.size ? new RegExp([...found].join("|"), "giu") : null;
}

/** Return the nodes of a text with the matches of the pattern highlighted. */
export function marked(text, pattern) {
  if (!pattern) return [text];
  const nodes = [];
  let end = 0;
  for (const { start, stop } of matches(text, pattern)) {
    nodes.push(text.slice(end, start), el("mark", {}, text.slice(start, stop)));
    end = stop;
  }
  return [...nodes, text.slice(end)];
}

/** Mark the words of the pattern in rendered blocks, and the sentences of the passage with most of them. */
export function highlight(leaves, pattern) {
  if (!pattern) return;
  const found = leaves.map((leaf) => ({ leaf, words: matches(leaf.textContent, pattern) }));
  const best = found.flatMap(({ leaf, words }) => (leaf.tagName === "CODE" ? [] : scored(leaf, words)));
  best.sort((a, b) => b.score - a.score);
  const enough = best.filter(({ score }) => score > 1 && score === best[0].score).slice(0, MAX_SENTENCES);
  for (const { leaf, words } of found) {
    const own = enough.filter((sentence) => sentence.leaf === leaf);
    if (words.length) wrap(leaf, words, own);
  }
}

function matches(text, pattern) {
  const found = [...text.matchAll(pattern)].filter((match) => match[0]);
  return found.map((match) => ({
    start: match.index,
    stop: match.index + match[0].length,
    word: match[0].toLowerCase(),
  }));
}

/** Return the sentences of a block, scored by their number of different words of the question. */
function scored(leaf, words) {
  if (!words.length) return [];
  return [...sentences.segment(leaf.textContent)].map(({ segment, index }) => {
    const stop = index + segment.trimEnd().length;
    const own = words.filter((word) => word.start >= index && word.stop <= stop);
    return { leaf, start: index, stop, score: new Set(own.map(({ word }) => word.slice(0, 5))).size };
  });
}

/** Wrap words and sentences of a block, cutting text nodes at their ends. */
function wrap(leaf, words, sentenceRanges) {
  const walker = document.createTreeWalker(leaf, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let at = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    nodes.push({ node, start: at });
    at += node.data.length;
  }
  for (const { node, start } of nodes) {
    if (node.parentNode.namespaceURI.includes("Math")) continue;
    const stop = start + node.data.length;
    const all = [...words, ...sentenceRanges];
    const cuts = all.flatMap((range) => [range.start, range.stop]).filter((cut) => cut > start && cut < stop);
    const edges = [...new Set([start, ...cuts, stop])].sort((a, b) => a - b);
    const pieces = edges.slice(0, -1).map((edge, n) => {
      const text = node.data.slice(edge - start, edges[n + 1] - start);
      const isIn = (range) => edge >= range.start && edges[n + 1] <= range.stop;
      const inner = words.some(isIn) ? el("mark", {}, text) : text;
      return sentenceRanges.some(isIn) ? el("span", { class: "evident" }, inner) : inner;
    });
    node.replaceWith(...pieces);
  }
}

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
