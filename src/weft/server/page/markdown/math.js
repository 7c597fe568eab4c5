/* LaTeX formulas as MathML. An unknown command is shown by its name, so that nothing gets lost. */

import { mathml } from "../dom.js";
import { ACCENTS, FUNCTIONS, LARGE, SPACES, STYLES, SYMBOLS } from "./symbols.js";

const TOKEN = /\\([a-zA-Z]+|.)|([{}^_&])|(\d+(?:\.\d+)?)|([^\s\\{}^_&])/gsu;
/** Groups nested deeper than this are shown as text. */
const MAX_DEPTH = 30;

/** Return a formula; `isBlock` sets it on a line of its own. */
export function formula(text, { isBlock = false } = {}) {
  const tokens = [...text.matchAll(TOKEN)].map(([whole, command, sign, number, other]) => ({
    whole,
    command,
    sign,
    number,
    other,
  }));
  const reader = { tokens, at: 0, depth: 0 };
  const rows = cellRows(reader, () => reader.at >= tokens.length);
  const body = rows.length > 1 || rows[0].length > 1 ? grid(rows) : rows[0][0];
  return mathml("math", { display: isBlock ? "block" : "inline", "aria-label": text.trim() }, body);
}

const row = (nodes) => (nodes.length === 1 ? nodes[0] : mathml("mrow", {}, ...nodes));
const grid = (rows) =>
  mathml("mtable", {}, ...rows.map((cells) => mathml("mtr", {}, ...cells.map((cell) => mathml("mtd", {}, cell)))));
const peek = (reader) => reader.tokens[reader.at];

/** Read rows of cells, divided by `\\` and `&`, until `isEnd`. */
function cellRows(reader, isEnd) {
  const rows = [[]];
  let nodes = [];
  const endCell = () => {
    rows.at(-1).push(row(nodes));
    nodes = [];
  };
  while (reader.at < reader.tokens.length && !isEnd()) {
    const { sign, command } = peek(reader);
    if (sign === "&") endCell();
    else if (command === "\\") {
      endCell();
      rows.push([]);
    } else {
      nodes.push(scripted(reader));
      continue;
    }
    reader.at += 1;
  }
  endCell();
  return rows;
}

/** Read an atom with its subscript and superscript. */
function scripted(reader) {
  const token = peek(reader);
  const base = atom(reader);
  const scripts = {};
  while (peek(reader)?.sign === "_" || peek(reader)?.sign === "^") {
    const { sign } = peek(reader);
    reader.at += 1;
    scripts[sign] = atom(reader);
  }
  const { _: sub, "^": sup } = scripts;
  const isLarge = token?.command && (token.command in LARGE || token.command === "lim");
  if (sub && sup) return mathml(isLarge ? "munderover" : "msubsup", {}, base, sub, sup);
  if (sub) return mathml(isLarge ? "munder" : "msub", {}, base, sub);
  return sup ? mathml(isLarge ? "mover" : "msup", {}, base, sup) : base;
}

function atom(reader) {
  const token = reader.tokens[reader.at];
  reader.at += 1;
  if (!token) return mathml("mrow");
  if (token.command) return command(reader, token.command);
  if (token.number) return mathml("mn", {}, token.number);
  if (token.sign === "{") return group(reader);
  if (token.sign) return mathml("mo", {}, token.sign);
  return mathml(/\p{L}/u.test(token.other) ? "mi" : "mo", {}, token.other === "-" ? "−" : token.other);
}

/** Read up to the closing brace. */
function group(reader) {
  reader.depth += 1;
  const nodes = [];
  while (reader.at < reader.tokens.length && peek(reader).sign !== "}") {
    nodes.push(reader.depth > MAX_DEPTH ? mathml("mtext", {}, reader.tokens[reader.at++].whole) : scripted(reader));
  }
  reader.at += 1;
  reader.depth -= 1;
  return row(nodes);
}

/** Read an argument as plain letters, such as the name of an environment. */
function letters(reader) {
  if (peek(reader)?.sign !== "{") return reader.tokens[reader.at++]?.whole ?? "";
  let text = "";
  for (reader.at += 1; reader.at < reader.tokens.length && peek(reader).sign !== "}"; reader.at += 1)
    text += peek(reader).whole;
  reader.at += 1;
  return text;
}

function command(reader, name) {
  if (name === "frac" || name === "dfrac" || name === "tfrac") return mathml("mfrac", {}, atom(reader), atom(reader));
  if (name === "binom")
    return row([mo("("), mathml("mfrac", { linethickness: 0 }, atom(reader), atom(reader)), mo(")")]);
  if (name === "sqrt") return mathml("msqrt", {}, atom(reader));
  if (name === "text" || name === "operatorname" || name === "textbf" || name === "mbox")
    return mathml("mtext", {}, letters(reader));
  if (name === "left" || name === "right" || /^[bB]igg?[lr]?$/.test(name)) return delimiter(reader);
  if (name === "begin") return environment(reader);
  if (name in ACCENTS) return mathml("mover", { accent: "true" }, atom(reader), mo(ACCENTS[name]));
  if (name in STYLES) return mathml("mstyle", { mathvariant: STYLES[name] }, atom(reader));
  if (name in LARGE) return mathml("mo", { largeop: "true" }, LARGE[name]);
  if (name in SYMBOLS) return mathml(/\p{L}/u.test(SYMBOLS[name]) ? "mi" : "mo", {}, SYMBOLS[name]);
  if (name in SPACES) return mathml("mspace", { width: SPACES[name] });
  if (FUNCTIONS.has(name)) return mathml("mi", {}, name);
  return /^[a-zA-Z]/.test(name) ? mathml("mtext", {}, `\\${name}`) : mo(name);
}

const mo = (sign) => mathml("mo", {}, sign);

function delimiter(reader) {
  const token = reader.tokens[reader.at];
  reader.at += 1;
  const sign = token?.command ? (SYMBOLS[token.command] ?? token.command) : (token?.whole ?? "");
  return sign === "." ? mathml("mrow") : mathml("mo", { stretchy: "true" }, sign);
}

function environment(reader) {
  const name = letters(reader).replace("*", "");
  if (name === "array" && peek(reader)?.sign === "{") letters(reader);
  reader.depth += 1;
  const rows =
    reader.depth > MAX_DEPTH ? [[mathml("mtext", {}, name)]] : cellRows(reader, () => peek(reader).command === "end");
  reader.depth -= 1;
  reader.at += 1;
  letters(reader);
  const [open, close] = { pmatrix: "()", bmatrix: "[]", vmatrix: "||", cases: "{" }[name] ?? "";
  return row(
    [
      open && mathml("mo", { stretchy: "true" }, open),
      grid(rows),
      close && mathml("mo", { stretchy: "true" }, close),
    ].filter(Boolean),
  );
}
