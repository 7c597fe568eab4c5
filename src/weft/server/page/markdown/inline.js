/* Inline Markdown as DOM nodes: code, emphasis, links, math, and the harmless tags of HTML. */

import { address, el, external } from "../dom.js";
import { formula } from "./math.js";

/* Every alternative ends at a character that its class excludes or is bounded, so matching takes linear time.

   | alternative | example | groups |
   | --- | --- | --- |
   | escape | `\*` | 1 |
   | code | `` `a` ``, ``` ``a`b`` ``` | 2, 3 |
   | image, link | `![alt](url)`, `[text](url "title")` | 4 mark, 5 text, 6 address |
   | reference | `[text][id]`, `[^1]` | 7 text, 8 footnote |
   | wikilink | `[[Name|shown]]` | 9, 10 |
   | address | `<https://a.b>`, `https://a.b` | 11, 12 |
   | strong, emphasis, deleted | `**a**`, `*a*`, `_a_`, `~~a~~` | 13 to 17 |
   | math | `$x$`, `\(x\)` | 18, 19 |
   | tag | `<br>`, `</strong>`, `<a href="/x">` | 20 slash, 21 name, 22 attributes | */
const INLINE = new RegExp(
  [
    "\\\\([!-/:-@[-`{-~])",
    "``([^\\n]{1,300}?)``|`([^`\\n]+)`",
    "(!?)\\[([^\\[\\]\\n]{0,500})\\]\\(\\s{0,2}<?([^()\\s<>]{0,1000}(?:\\([^()\\s]{0,200}\\)[^()\\s]{0,200})?)>?(?:\\s{1,2}[\"'(][^\"'\\n]{0,300}[\"')])?\\s{0,2}\\)",
    "\\[([^\\[\\]^\\n]{1,300})\\]\\[[^\\[\\]\\n]{0,100}\\]|\\[\\^([^\\[\\]\\s]{1,40})\\]",
    "\\[\\[([^\\]|\\[\\n]{1,300})(?:\\|([^\\]\\n]{1,300}))?\\]\\]",
    '<(https?:[^<>\\s]{1,1000})>|(https?:\\/\\/[^\\s<>()\\[\\]`"]{1,1000}[^\\s<>()\\[\\]`"\'.,;:!?*])',
    "\\*\\*([^*\\n]+)\\*\\*|__([^_\\n]+)__",
    "\\*([^*\\s][^*\\n]{0,500})\\*|(?<![\\p{L}\\p{N}_])_([^_\\s][^_\\n]{0,500})_(?![\\p{L}\\p{N}_])",
    "~~([^~\\n]+)~~",
    "\\$([^\\s$](?:[^$\\n]{0,300}[^\\s$\\\\])?)\\$(?!\\d)|\\\\\\(([^\\n]{1,300}?)\\\\\\)",
    "<(\\/?)(strong|b|em|i|code|kbd|sub|sup|br|p|ul|ol|li|div|span|a|table|thead|tbody|tr|td|th|dl|dt|dd|small)" +
      "(?![\\w-])([^<>]{0,500})>",
  ].join("|"),
  "giu",
);
const HREF = /\shref=["']?([^"'<>\s]{0,500})/i;
const TAGS = { b: "strong", strong: "strong", i: "em", em: "em", code: "code", kbd: "kbd", sub: "sub", sup: "sup" };
/** Heading ids of Hugo and VitePress, `{#install}`. */
const ANCHOR = /\s?\{#[\w-]{1,100}\}/g;
/** Shortcodes of Hugo; only the text of a tooltip, `{{< tooltip text="Pod" >}}`, is meant to be read. */
const SHORTCODE = /\{\{[<%]([^{}]{0,300})[>%]\}\}/g;
/** Emphasis inside emphasis deeper than this stays literal. */
const MAX_DEPTH = 6;

/** Return the nodes of a line of Markdown. `at.source` is the document that relative links start from. */
export function inline(text, at = {}, depth = 0) {
  const root = { nodes: [], tag: "" };
  const stack = [root];
  const put = (...nodes) => stack.at(-1).nodes.push(...nodes.filter((node) => node !== ""));
  let end = 0;
  const plain = text.replace(ANCHOR, "").replace(SHORTCODE, (_, inner) => /\stext="([^"]*)"/.exec(inner)?.[1] ?? "");
  for (const match of plain.matchAll(INLINE)) {
    put(plain.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[21]) tag(match, stack, at);
    else put(...span(match, at, depth));
  }
  put(plain.slice(end));
  while (stack.length > 1) close(stack);
  return root.nodes;
}

function span(match, at, depth) {
  const [whole, sign, quoted, code, image, text, to, reference, note, name, shown, angle, bare] = match;
  const [strong, strong2, em, em2, gone, math, math2] = match.slice(13, 20);
  const within = (inner) => (depth < MAX_DEPTH ? inline(inner, at, depth + 1) : [inner]);
  if (sign) return [sign];
  if (quoted ?? code) return [el("code", {}, (quoted ?? code).trim())];
  if (image) return [el("span", { class: "image" }, text ? `Image: ${text}` : "Image")];
  if (to !== undefined) return [target(to, within(text || to), at)];
  if (reference) return within(reference);
  if (note) return [el("sup", {}, note)];
  if (name) return [el("a", { class: "name", href: address("entity", { name }) }, shown ?? name)];
  if (angle ?? bare) return [target(angle ?? bare, [angle ?? bare], at)];
  if (strong ?? strong2) return [el("strong", {}, ...within(strong ?? strong2))];
  if (em ?? em2) return [el("em", {}, ...within(em ?? em2))];
  if (gone) return [el("s", {}, ...within(gone))];
  if (math ?? math2) return [formula(math ?? math2)];
  return [whole];
}

/** Return a link to another site, to an indexed document, or the text alone if the address is neither. */
function target(to, children, at) {
  const other = external(to, children);
  if (other) return other;
  // A path has no colon before its first slash; an address with another scheme could run a script.
  const isPath = to && !to.startsWith("#") && !/^[^/]*:/.test(to);
  if (!isPath || !at.source) return el("span", { class: "dead", title: to }, ...children);
  return el("a", { href: address("document", { link: to, from: at.source }) }, ...children);
}

/** Open or close an element for a tag of HTML; tags of blocks become line breaks. */
function tag(match, stack, at) {
  const [slash, name, attributes] = [match[20], match[21].toLowerCase(), match[22]];
  if (name === "br") stack.at(-1).nodes.push(el("br"));
  else if (!(name in TAGS) && name !== "a") breakLine(stack.at(-1).nodes, name, slash);
  else if (!slash) stack.push({ nodes: [], tag: name, href: HREF.exec(attributes)?.[1] ?? "", at });
  else if (stack.at(-1).tag === name) close(stack);
}

function breakLine(nodes, name, slash) {
  if (name === "span" || name === "small") return;
  if (nodes.length && !/\n•? ?$/.test(nodes.at(-1).textContent ?? nodes.at(-1))) nodes.push("\n");
  if (name === "li" && !slash) nodes.push("• ");
}

function close(stack) {
  const { nodes, tag: name, href, at } = stack.pop();
  stack.at(-1).nodes.push(name === "a" ? target(href, nodes, at) : el(TAGS[name], {}, ...nodes));
}
