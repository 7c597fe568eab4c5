/* Keys of the server, for an admin key: list, create, revoke. The text of a new key is shown once. */

import * as api from "./api.js";
import { announce, confirmed, copyButton, el, problem, replace } from "./dom.js";

export const PERMISSIONS = {
  read: "read only",
  write: "read and write",
  admin: "read, write and manage keys",
};

/** Return the section that lists and creates keys; `own` is the key of this tab. */
export async function keySection(own) {
  const list = el("ul", { class: "facts" });
  const { keys } = await api.keys();
  list.append(...keys.toReversed().map((key) => keyItem(key, own)));
  return el(
    "section",
    { "aria-labelledby": "keys-title" },
    el("h2", { id: "keys-title" }, "Keys"),
    el("p", { class: "quiet" }, `Keys for ${own.namespaces.join(", ")}. A key is shown only when it is created.`),
    keyForm(own, (made) => list.prepend(keyItem(made, own))),
    list,
  );
}

function keyItem(key, own) {
  const item = el("li", { class: "fact", "data-key": key.id });
  fillItem(item, key, own);
  return item;
}

function fillItem(item, key, own, message = "") {
  const name = key.name || "without a name";
  const isOwn = key.id === own.id;
  const button = el("button", { type: "button", class: "plain small", "aria-label": `Revoke ${name}` }, "Revoke");
  button.addEventListener("click", async () => {
    const question = `Revoke the key “${name}” (${key.id})? Clients that use it are refused at once.`;
    if (!(await confirmed(question, "Revoke"))) return;
    try {
      fillItem(item, await api.revokeKey(key.id), own);
      announce(`Revoked: ${name}`);
    } catch (error) {
      fillItem(item, key, own, problem(error));
    }
  });
  replace(
    item,
    el("p", { class: "statement" }, el("b", {}, name), ` ${key.id}`),
    el(
      "p",
      { class: "quiet details" },
      el(
        "span",
        { class: `state ${key.revoked ? "rejected" : "confirmed"}` },
        key.revoked ? `revoked on ${key.revoked.slice(0, 10)}` : "valid",
      ),
      ` · ${PERMISSIONS[key.access]} · ${key.namespaces.join(", ")} · created on ${key.created.slice(0, 10)}`,
      isOwn ? " · the key of this tab" : "",
    ),
    message ? el("p", { class: "problem", role: "alert" }, message) : null,
    key.revoked || isOwn ? null : el("div", { class: "row buttons" }, button),
  );
}

function keyForm(own, onCreated) {
  const outcome = el("div", { role: "status" });
  const form = el(
    "form",
    { class: "tools" },
    el("label", {}, "Name ", el("input", { name: "name", required: true, maxlength: 200, autocomplete: "off" })),
    el(
      "label",
      {},
      "Permission ",
      el(
        "select",
        { name: "access" },
        Object.entries(PERMISSIONS).map(([value, text]) => el("option", { value }, text)),
      ),
    ),
    own.namespaces.length > 1
      ? el(
          "label",
          {},
          "Namespace ",
          el(
            "select",
            { name: "namespace" },
            own.namespaces.map((name) => el("option", { selected: name === own.namespace }, name)),
          ),
        )
      : null,
    el("button", { class: "primary" }, "Create key"),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { name, access, namespace } = Object.fromEntries(new FormData(form));
    try {
      const made = await api.createKey({ name, access, namespaces: [namespace ?? own.namespace] });
      replace(outcome, secret(made));
      onCreated(made);
      form.reset();
    } catch (error) {
      replace(outcome, el("p", { class: "problem" }, problem(error)));
    }
  });
  return el("div", { class: "panel new-key" }, form, outcome);
}

const secret = (made) =>
  el(
    "div",
    { class: "secret" },
    el("p", {}, el("b", {}, `Key “${made.name}”: copy it now, it cannot be shown again.`)),
    el("div", { class: "row" }, el("code", {}, made.key), copyButton("Copy key", made.key)),
  );
