/* Rendering of a passage: simple Markdown blocks and highlighted query words, always as text nodes. */

import { el, link } from "./dom.js";

const STOP_WORDS = new Set(
  (
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it its " +
    "me my no not of on or our should so than that the their them then there these they this those to was we " +
    "were what when where which who whom why will with would you your about after all any happens happen out " +
    "up off over"
  ).split(" "),
);
const INLINE = /\*\*([^*\n]+)\*\*|`([^`\n]+)`|\[\[([^\]|\n]+)(?:\|([^\]\n]+))?\]\]/g;
const ROW = /^\|.*\|\s*$/;
const RULE = /^\|[\s|:-]+\|\s*$/;
const LIST = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/;

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
  for (const match of text.matchAll(pattern)) {
    if (!match[0]) continue;
    nodes.push(text.slice(end, match.index), el("mark", {}, match[0]));
    end = match.index + match[0].length;
  }
  return [...nodes, text.slice(end)];
}

/** Return a passage as blocks: headings, list items, table rows and lines, each in its own text direction. */
export function passage(text, pattern) {
  const box = el("div", { class: "passage" });
  let inCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      inCode = !inCode;
    } else if (inCode) {
      box.append(el("div", { class: "verbatim" }, ...marked(line, pattern)));
    } else if (ROW.test(line)) {
      if (!RULE.test(line)) addRow(box, line, pattern);
    } else {
      box.append(block(line, pattern));
    }
  }
  return box;
}

function addRow(box, line, pattern) {
  if (box.lastChild?.tagName !== "TABLE") box.append(el("table", { class: "cells" }, el("tbody")));
  const cells = line.trim().slice(1, -1).split("|");
  box.lastChild.firstChild.append(
    el(
      "tr",
      {},
      cells.map((cell) => el("td", { dir: "auto" }, ...inline(cell.trim(), pattern))),
    ),
  );
}

function block(line, pattern) {
  const heading = /^#{1,6}\s+(.*)$/.exec(line);
  if (heading) return el("div", { class: "heading", dir: "auto" }, ...inline(heading[1], pattern));
  const item = LIST.exec(line);
  if (item) {
    const sign = /\d/.test(item[2]) ? item[2] : "•";
    return el(
      "div",
      { class: "item", dir: "auto" },
      el("span", { class: "sign" }, sign),
      el("span", {}, ...inline(item[3], pattern)),
    );
  }
  return line.trim() ? el("div", { dir: "auto" }, ...inline(line, pattern)) : el("div", { class: "gap" });
}

function inline(text, pattern) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    nodes.push(...marked(text.slice(end, match.index), pattern));
    const [whole, bold, code, name, shown] = match;
    if (bold) nodes.push(el("strong", {}, ...inline(bold, pattern)));
    else if (code) nodes.push(el("code", {}, ...marked(code, pattern)));
    else nodes.push(link("entity", { name }, { class: "name" }, ...marked(shown ?? name, pattern)));
    end = match.index + whole.length;
  }
  return [...nodes, ...marked(text.slice(end), pattern)];
}

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
