/* Edits of an entity by an administrator: rename, merge, delete, and the way back. */

import * as api from "./api.js";
import { announce, confirmed, el, problem, replace } from "./dom.js";

let last = null;

/** Return the outcome of the last edit with its undo, once, and the forms if this tab may edit. */
export async function entityEdits(entity) {
  const { can_edit: mayEdit } = await api.key();
  return [lastEdit(), mayEdit ? forms(entity) : null];
}

/** Return what the last edit did, with a button that reverts it; null if there is none to show. */
export function lastEdit() {
  if (!last) return null;
  const { text, undo } = last;
  last = null;
  const outcome = el("p", { class: "row notice", role: "status", tabindex: -1 }, el("span", {}, text));
  if (undo) {
    const button = el("button", { type: "button", class: "plain small" }, "Undo");
    button.addEventListener("click", () =>
      apply(undo, ({ name }) => `Restored: ${name}`).catch((error) => replace(outcome, problem(error))),
    );
    outcome.append(button);
  }
  return outcome;
}

/** Edit an entity, and show it again, or the list if it is gone. */
async function apply(edit, say) {
  const { entity, undo } = await api.editEntity(edit);
  const text = say(entity);
  last = { text, undo };
  announce(text);
  const address = edit.kind === "delete" ? "#/entities" : `#/entity?${new URLSearchParams({ name: entity.name })}`;
  if (location.hash === address) window.dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = address;
}

function forms({ name }) {
  const outcome = el("p", { class: "problem", role: "alert" });
  const attempt = (done) => done.catch((error) => replace(outcome, problem(error)));
  const rename = form("New name", "Rename", name, (to) =>
    attempt(apply({ kind: "rename", name, to }, (entity) => `Renamed ${name} to ${entity.name}.`)),
  );
  const merge = form("Same as", "Merge", "", async (to) => {
    if (!(await confirmed(`Merge “${name}” into “${to}”? It becomes another name of that entity.`, "Merge"))) return;
    await attempt(apply({ kind: "merge", name, to }, (entity) => `Merged ${name} into ${entity.name}.`));
  });
  const button = el("button", { type: "button", class: "plain danger" }, "Delete entity");
  button.addEventListener("click", async () => {
    const question = `Delete “${name}” with its other names and relations? Documents are kept.`;
    if (await confirmed(question, "Delete")) await attempt(apply({ kind: "delete", name }, () => `Deleted ${name}.`));
    else button.focus();
  });
  return el("details", { class: "panel" }, el("summary", {}, "Edit entity"), rename, merge, button, outcome);
}

/** Return a form with one text field. */
function form(label, action, value, submit) {
  const field = el("input", { name: "to", value, required: true, maxlength: 1000, autocomplete: "off" });
  const made = el("form", { class: "tools" }, el("label", {}, `${label} `, field), el("button", { class: "plain" }, action));
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) submit(field.value.trim());
  });
  return made;
}
