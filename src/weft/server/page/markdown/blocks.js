/* Markdown blocks as DOM nodes: paragraphs, lists, tables, code, quotes, math. Text never becomes markup. */

import { el } from "../dom.js";
import { inline } from "./inline.js";
import { formula } from "./math.js";

const FENCE = /^\s{0,8}(`{3,}|~{3,})\s*([\w+#.-]{0,30})/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*)$/;
const LIST = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const ROW = /^\s*\|.*\|\s*$/;
const RULE = /^\s*\|[\s|:-]+\|\s*$/;
const LINE = /^\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^\s{0,3}>\s?/;
/** Title of an Obsidian callout, `> [!note] Title`, or of a VitePress container, `::: tip Title`. */
const CALLOUT = /^\[!(\w{1,20})\][+-]?\s*(.*)$/;
const CONTAINER = /^:{3,}\s*(\w{0,20})\s*(.*)$/;
const COMMENT = /^\s*<!--.*-->\s*$/;
/** Quotes and lists deeper than this are shown as text. */
const MAX_DEPTH = 8;

/**
 * Return a text as blocks. `leaves` collects the innermost blocks, which `highlight` marks words in.
 * `at` holds the source of the document, which relative links start from, and `keepsLines` for plain text.
 */
export function blocks(text, leaves, at = {}, depth = 0) {
  const lines = text.split("\n");
  const nodes = [];
  let i = 0;
  const take = (test) => {
    const from = i;
    while (i < lines.length && test(lines[i])) i += 1;
    return lines.slice(from, i);
  };
  while (i < lines.length) {
    const line = lines[i];
    if (!line.trim() || COMMENT.test(line)) {
      i += 1;
    } else if (FENCE.test(line)) {
      nodes.push(fenced(lines, i, leaves));
      i = fenceEnd(lines, i);
    } else if (isMath(line)) {
      const [node, next] = displayed(lines, i);
      nodes.push(node);
      i = next;
    } else if (HEADING.test(line)) {
      nodes.push(leaf(leaves, "div", { class: "heading" }, inline(HEADING.exec(line)[2], at)));
      i += 1;
    } else if (ROW.test(line)) {
      nodes.push(
        table(
          take((l) => ROW.test(l)),
          leaves,
          at,
        ),
      );
    } else if (LINE.test(line)) {
      nodes.push(el("hr"));
      i += 1;
    } else if (QUOTE.test(line) && depth < MAX_DEPTH) {
      nodes.push(
        quote(
          take((l) => QUOTE.test(l)),
          leaves,
          at,
          depth,
        ),
      );
    } else if (CONTAINER.test(line)) {
      const [, kind, title] = CONTAINER.exec(line);
      if (kind) nodes.push(leaf(leaves, "div", { class: "heading" }, inline(title || kind, at)));
      i += 1;
    } else if (LIST.test(line) && depth < MAX_DEPTH) {
      nodes.push(list(take(inList(lines[i])), leaves, at, depth));
    } else {
      nodes.push(paragraph(take(isText(lines, () => i)), leaves, at));
    }
  }
  return nodes;
}

function leaf(leaves, tag, attributes, children) {
  const node = el(tag, { dir: "auto", ...attributes }, ...children);
  leaves.push(node);
  return node;
}

/** Return the test for further lines of a paragraph; the first line always belongs to it. */
function isText(lines, at) {
  const first = at();
  const starts = [FENCE, HEADING, ROW, LINE, QUOTE, CONTAINER, LIST];
  return (line) => at() === first || (line.trim() && !isMath(line) && !starts.some((pattern) => pattern.test(line)));
}

function paragraph(lines, leaves, at) {
  const parts = [];
  lines.forEach((line, n) => {
    const isHard = at.keepsLines || / {2,}$|\\$/.test(line);
    parts.push(line.trim().replace(/\\$/, ""));
    if (n + 1 < lines.length) parts.push(isHard ? "\n" : " ");
  });
  return leaf(leaves, "p", {}, inline(parts.join(""), at));
}

function fenceEnd(lines, from) {
  const [, sign] = FENCE.exec(lines[from]);
  const end = lines.findIndex(
    (line, n) => n > from && line.trim().startsWith(sign) && !line.trim().slice(3).match(/\w/),
  );
  return end < 0 ? lines.length : end + 1;
}

function fenced(lines, from, leaves) {
  const end = fenceEnd(lines, from);
  const isClosed = end > from + 1 && FENCE.test(lines[end - 1]);
  const indent = /^\s*/.exec(lines[from])[0].length;
  const body = lines
    .slice(from + 1, isClosed ? end - 1 : end)
    .map((line) => line.replace(new RegExp(`^\\s{0,${indent}}`), ""));
  return verbatim(body.join("\n"), leaves, FENCE.exec(lines[from])[2]);
}

/** Return text as it stands, such as source code. */
export function verbatim(text, leaves, language = "") {
  const code = el("code", {}, text);
  leaves.push(code);
  const label = language ? `Code, ${language}` : "Code";
  return el("pre", { tabindex: 0, role: "group", "aria-label": label, "data-language": language || null }, code);
}

const isMath = (line) => /^\s*(\$\$|\\\[)/.test(line);

/** Return a displayed formula and the line after it. */
function displayed(lines, from) {
  const close = lines[from].trim().startsWith("$$") ? "$$" : "\\]";
  const first = lines[from].trim().slice(2);
  const body = [];
  let i = from;
  for (let rest = first; ; rest = lines[i]) {
    const end = rest.indexOf(close);
    body.push(end < 0 ? rest : rest.slice(0, end));
    i += 1;
    if (end >= 0 || i >= lines.length) break;
  }
  return [
    el(
      "div",
      { class: "formula", tabindex: 0, role: "group", "aria-label": "Formula" },
      formula(body.join("\n"), { isBlock: true }),
    ),
    i,
  ];
}

/** Return the cells of a row; `\|` and a bar in code do not end a cell. */
function cells(line) {
  const parts = [""];
  let inCode = false;
  const body = line.trim().slice(1, -1);
  for (let i = 0; i < body.length; i += 1) {
    if (body[i] === "`") inCode = !inCode;
    if (body[i] === "\\" && body[i + 1] === "|") {
      parts[parts.length - 1] += "|";
      i += 1;
    } else if (body[i] === "|" && !inCode) parts.push("");
    else parts[parts.length - 1] += body[i];
  }
  return parts.map((cell) => cell.trim());
}

function table(rows, leaves, at) {
  const hasHead = rows.length > 1 && RULE.test(rows[1]);
  const row = (line, tag) =>
    el(
      "tr",
      {},
      // A header without text is no header to a screen reader.
      cells(line).map((cell) => leaf(leaves, cell ? tag : "td", {}, inline(cell, at))),
    );
  const body = rows.slice(hasHead ? 2 : 0).filter((line) => !RULE.test(line));
  return el(
    "div",
    { class: "sideways", tabindex: 0, role: "group", "aria-label": "Table" },
    el(
      "table",
      { class: "cells" },
      hasHead ? el("thead", {}, row(rows[0], "th")) : null,
      el(
        "tbody",
        {},
        body.map((line) => row(line, "td")),
      ),
    ),
  );
}

function quote(lines, leaves, at, depth) {
  const inner = lines.map((line) => line.replace(QUOTE, ""));
  const [, kind, title] = CALLOUT.exec(inner[0]) ?? [];
  const heading = kind ? leaf(leaves, "div", { class: "heading" }, inline(title || kind, at)) : null;
  return el("blockquote", {}, heading, blocks(inner.slice(kind ? 1 : 0).join("\n"), leaves, at, depth + 1));
}

/** Return the test for the lines of a list: its items, and lines indented below them. */
function inList(first) {
  const indent = /^\s*/.exec(first)[0].length;
  let isGap = false;
  return (line) => {
    if (!line.trim()) return (isGap = true);
    const depth = /^\s*/.exec(line)[0].length;
    const isItem = LIST.test(line) && depth >= indent;
    const belongs = isItem || depth > indent || (!isGap && !HEADING.test(line) && !FENCE.test(line) && !ROW.test(line));
    isGap = false;
    return belongs;
  };
}

function list(lines, leaves, at, depth) {
  const indent = /^\s*/.exec(lines[0])[0].length;
  const items = [];
  for (const line of lines) {
    const found = LIST.exec(line);
    if (found && found[1].length <= indent + 1) items.push({ sign: found[2], lines: [found[3]] });
    else items.at(-1).lines.push(line);
  }
  const isOrdered = /\d/.test(items[0].sign);
  return el(
    isOrdered ? "ol" : "ul",
    isOrdered ? { start: parseInt(items[0].sign, 10) } : {},
    items.map((item) => listItem(blocks(dedent(item.lines), leaves, at, depth + 1))),
  );
}

/** Return an item; its marker follows the direction of the first paragraph, which must not have its own. */
function listItem(children) {
  children[0]?.removeAttribute("dir");
  return el("li", { dir: "auto" }, children);
}

/** Return the lines of an item without the indentation of the lines after the first. */
function dedent([first, ...rest]) {
  const depths = rest.filter((line) => line.trim()).map((line) => /^\s*/.exec(line)[0].length);
  const least = depths.length ? Math.min(...depths) : 0;
  return [
    first.replace(/^\[([ xX])\]\s/, (_, sign) => (sign === " " ? "☐ " : "☑ ")),
    ...rest.map((line) => line.slice(least)),
  ].join("\n");
}
