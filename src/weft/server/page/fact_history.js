/* Timeline of a fact, and the form that replaces it by another value. */

import * as api from "./api.js";
import { el, problem, words } from "./dom.js";

/** Return the events of a fact, latest first, and the time in which it is valid. */
export async function timeline(fact) {
  const { fact: whole, history, omitted } = await api.fact(fact.id);
  const day = (time) => (time ? time.slice(0, 10) : null);
  const valid = [whole.valid_from && `from ${day(whole.valid_from)}`, whole.valid_to && `until ${day(whole.valid_to)}`];
  return el(
    "div",
    { class: "below timeline" },
    el(
      "p",
      { class: "quiet" },
      `Valid ${valid.filter(Boolean).join(" ") || "without a time limit"}. Recalled ${whole.access_count} times.`,
    ),
    el(
      "ol",
      {},
      [...history]
        .reverse()
        .map(({ at, action, detail }) =>
          el(
            "li",
            {},
            el("time", { datetime: at }, at.slice(0, 16).replace("T", " ")),
            ` ${words(action)}`,
            detail ? `: ${detail}` : "",
          ),
        ),
    ),
    omitted ? el("p", { class: "quiet" }, `${omitted} earlier events are not listed.`) : null,
  );
}

/** Return a form for another value. The old fact stays in the history as replaced. */
export function editForm(fact, onChanged) {
  const key = fact.object ? "object" : "value";
  const outcome = el("p", { class: "problem", role: "alert" });
  const field = el("input", { name: key, value: fact[key], required: true, autocomplete: "off", maxlength: 1000 });
  const form = el(
    "form",
    { class: "below tools" },
    el("label", {}, `${words(fact.predicate)} `, field),
    el("button", { class: "primary" }, "Save"),
    outcome,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const { subject, predicate, id } = fact;
      const [done] = (await api.addFact({ subject, predicate, [key]: field.value.trim(), supersedes: id })).facts;
      if (!done.fact) throw new Error(done.reason ?? done.outcome);
      onChanged(await api.confirmFact(done.fact.id));
    } catch (error) {
      outcome.textContent = problem(error);
    }
  });
  return form;
}
