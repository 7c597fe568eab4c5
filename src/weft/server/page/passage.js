/* Rendering of a passage: Markdown or source code, with the words of the question highlighted. */

import { el } from "./dom.js";
import { blocks, verbatim } from "./markdown/blocks.js";
import { highlight } from "./markdown/highlight.js";

/** Source code and settings: shown as they stand. */
const VERBATIM = /\.(c|cc|cpp|css|go|h|hpp|java|js|jsx|mjs|py|pyi|rs|sh|sql|toml|ts|tsx|ya?ml)$/i;
/** Formats in which a line break has no meaning; in all others it has. */
const MARKDOWN = /\.(md|mdx|markdown|html?|rst)$|^text:/i;

/** Return a passage as blocks, each in its own text direction. */
export function passage(text, pattern, source = "") {
  const leaves = [];
  const at = { source, keepsLines: !MARKDOWN.test(source) };
  const content = VERBATIM.test(source) ? verbatim(text, leaves) : blocks(text, leaves, at);
  const box = el("div", { class: "passage" }, content);
  highlight(leaves, pattern);
  return box;
}
