/* Elements and their text. Nothing that comes from a document is ever parsed as markup. */

const SVG = "http://www.w3.org/2000/svg";
// They reorder what stands around them, so that a text reads other than it is.
const OVERRIDES = /[\u202a\u202b\u202d\u202e]/g;
const FORBIDDEN = /^(on|style$|srcdoc$|src$|xlink)/;

const isShown = (name) => name === "title" || name === "aria-label";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (FORBIDDEN.test(name) || (name === "href" && !String(value).startsWith("#"))) {
      throw new Error(`not set from a script: ${name}`);
    } else {
      element.setAttribute(name, value === true ? "" : isShown(name) ? plain(value) : String(value));
    }
  }
  const given = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  element.append(...given.map((child) => (child instanceof Node ? child : plain(child))));
  return element;
}

/** Return a text with the signs that would turn it around spelled out. */
export const plain = (text) =>
  String(text).replace(OVERRIDES, (sign) => `[U+${sign.codePointAt(0).toString(16).toUpperCase()}]`);

/** Return an element; children that are strings become text. */
export const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** Return an element of a drawing. */
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** Return a link to a view of this page. */
export function link(view, params, attributes, ...children) {
  return el("a", { href: address(view, params), ...attributes }, ...children);
}

/** Return the address of a view of this page. */
export function address(view, params = {}) {
  const text = new URLSearchParams(params).toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

/** Tell people who listen to the page what happened. */
export function announce(text) {
  document.getElementById("live").textContent = text;
}

/** Ask whether to go on with what cannot be undone. */
export function confirmed(text, name) {
  const box = el(
    "dialog",
    { class: "question", "aria-label": text },
    el("p", {}, text),
    el(
      "form",
      { method: "dialog", class: "row end" },
      el("button", { class: "plain", value: "" }, "Cancel"),
      el("button", { class: "plain danger", value: "yes" }, name),
    ),
  );
  document.body.append(box);
  box.showModal();
  return new Promise((resolve) => {
    box.addEventListener("close", () => {
      box.remove();
      resolve(box.returnValue === "yes");
    });
  });
}

/** Return what went wrong in a sentence or two. */
export const problem = (error) => [sentence(error.message), advice(error)].filter(Boolean).join(" ");

/** Return what to do about it; a command is said to be one. */
export function advice({ hint }) {
  if (!hint || hint.startsWith("/")) return "";
  return /^(weft|pip) /.test(hint) ? `On the command line: ${hint}` : sentence(hint);
}

/** Return a text that begins and ends as a sentence does. */
export const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;

/** Put children in the place of what an element holds. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

/** Return a number as people read it. */
export const count = (value) => value.toLocaleString("en");

/** Return "1 chunk", "2 chunks". */
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

/** Return a score with about three digits that mean something. */
export function digits(value) {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 10 ? value.toFixed(1) : Number(value.toPrecision(3)).toString();
}

/** Return a probability without claiming certainty. */
export function percent(value) {
  if (value > 0.99) return "over 99 %";
  return value < 0.01 ? "under 1 %" : `${Math.round(value * 100)} %`;
}

/** Return the end of a long source or citation, from its last two parts on. */
export function short(citation) {
  const parts = citation.split("/").filter(Boolean);
  return parts.length > 2 ? parts.slice(-2).join("/") : citation;
}

/** Return relation types as words. */
export const words = (type) => type.replaceAll("_", " ");
