/* DOM elements and text formatting. Text of documents is never parsed as HTML. */

const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";
// Bidirectional embeddings and overrides: they reorder the surrounding text and can disguise a name.
const OVERRIDES = /[\u202a\u202b\u202d\u202e]/g;
const FORBIDDEN = /^(on|style$|srcdoc$|src$|xlink)/;

const isShown = (name) => name === "title" || name === "aria-label";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (FORBIDDEN.test(name) || (name === "href" && !String(value).startsWith("#"))) {
      throw new Error(`attribute must not be set by a script: ${name}`);
    } else {
      element.setAttribute(name, value === true ? "" : isShown(name) ? plain(value) : String(value));
    }
  }
  const given = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  element.append(...given.map((child) => (child instanceof Node ? child : plain(child))));
  return element;
}

/** Return a text with bidirectional control characters spelled out, such as [U+202E]. */
export const plain = (text) =>
  String(text).replace(OVERRIDES, (sign) => `[U+${sign.codePointAt(0).toString(16).toUpperCase()}]`);

/** Return an HTML element; strings among the children become text nodes. */
export const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** Return an SVG element. */
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** Return a MathML element. */
export const mathml = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(MATHML, tag), attributes, children);

/** Return a link to another site in a new tab; null if the address is not one of the web or of mail. */
export function external(to, children) {
  let url;
  try {
    url = new URL(to);
  } catch {
    return null;
  }
  if (!["http:", "https:", "mailto:"].includes(url.protocol)) return null;
  const link = el(
    "a",
    { class: "external", target: "_blank", rel: "noopener noreferrer", title: url.href },
    ...children,
  );
  link.href = url.href;
  return link;
}

/** Return a button that copies a text and says so. */
export function copyButton(name, text) {
  const button = el("button", { type: "button", class: "copy plain small" }, name);
  button.addEventListener("click", async () => {
    await copy(text);
    button.textContent = "Copied";
    announce("Copied");
    setTimeout(() => (button.textContent = name), 1500);
  });
  return button;
}

/** Copy a text. Browsers offer the clipboard only on loopback and over HTTPS; elsewhere a selection is copied. */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = el("textarea", { class: "unseen", "aria-hidden": "true" });
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/** Return a link to a view of this page. */
export function link(view, params, attributes, ...children) {
  return el("a", { href: address(view, params), ...attributes }, ...children);
}

/** Return the address of a view of this page. */
export function address(view, params = {}) {
  const text = new URLSearchParams(params).toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

/** Announce a change to screen readers. */
export function announce(text) {
  document.getElementById("live").textContent = text;
}

/** Ask for confirmation of an action that cannot be undone. */
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

/** Return an error and its hint as sentences. */
export const problem = (error) => [sentence(error.message), advice(error)].filter(Boolean).join(" ");

/** Return the hint of an error as a sentence; a command is introduced as one. */
export function advice({ hint }) {
  if (!hint || hint.startsWith("/")) return "";
  return /^(weft|pip) /.test(hint) ? `On the command line: ${hint}` : sentence(hint);
}

/** Return a text with a capital first letter and a full stop. */
export const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;

/** Replace the children of an element. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

/** Return a number with thousands separators. */
export const count = (value) => value.toLocaleString("en");

/** Return "1 chunk", "2 chunks". */
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

/** Return a score with about three significant digits. */
export function digits(value) {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 10 ? value.toFixed(1) : Number(value.toPrecision(3)).toString();
}

/** Return a probability as a percentage, never 0 % or 100 %. */
export function percent(value) {
  if (value > 0.99) return "over 99 %";
  return value < 0.01 ? "under 1 %" : `${Math.round(value * 100)} %`;
}

/** Return the last two path segments of a source or citation. */
export function short(citation) {
  const parts = citation.split("/").filter(Boolean);
  return parts.length > 2 ? parts.slice(-2).join("/") : citation;
}

/** Return relation types as words. */
export const words = (type) => type.replaceAll("_", " ");
