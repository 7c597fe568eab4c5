/* View of facts: list, filter, confirm, reject, forget, and a form to add a fact. */

import * as api from "./api.js";
import { announce, confirmed, digits, el, link, plural, problem, replace, words } from "./dom.js";
import { editForm, timeline } from "./fact_history.js";

const STATUS = { staged: "unconfirmed", confirmed: "confirmed", superseded: "replaced", rejected: "rejected" };

/** Return a list of facts with their buttons. */
export function factList(facts) {
  return el(
    "ul",
    { class: "facts" },
    facts.map((fact) => factItem(fact)),
  );
}

function factItem(fact) {
  const item = el("li", { class: "fact", "data-fact": fact.id });
  fillItem(item, fact);
  return item;
}

function fillItem(item, fact, message = "") {
  const statement = `${fact.subject} ${words(fact.predicate)} ${fact.object ?? fact.value}`;
  item.className = `fact ${fact.status}`;
  replace(
    item,
    el(
      "p",
      { class: "statement" },
      link("entity", { name: fact.subject }, { class: "subject" }, fact.subject),
      " ",
      el("span", { class: "predicate" }, words(fact.predicate)),
      " ",
      fact.object
        ? link("entity", { name: fact.object }, { class: "object" }, fact.object)
        : el("span", { class: "object" }, fact.value),
    ),
    el(
      "p",
      { class: "quiet details" },
      el("span", { class: `state ${fact.status}` }, STATUS[fact.status]),
      ` from ${words(fact.source)} · confidence ${digits(fact.confidence)}`,
      fact.score === undefined ? "" : ` · score ${digits(fact.score)}`,
      fact.valid_to ? ` · until ${fact.valid_to.slice(0, 10)}` : "",
      fact.note ? ` · ${fact.note}` : "",
    ),
    message ? el("p", { class: "problem", role: "alert" }, message) : null,
    el(
      "div",
      { class: "row buttons" },
      fact.status === "confirmed" ? null : action(item, fact, "Confirm", statement, judge(api.confirmFact)),
      fact.status === "rejected" ? null : action(item, fact, "Reject", statement, judge(api.rejectFact)),
      action(item, fact, "Edit", statement, edit),
      action(item, fact, "Timeline", statement, showTimeline),
      action(item, fact, "Forget", statement, forget),
    ),
  );
}

function action(item, fact, name, statement, run) {
  const button = el("button", { type: "button", class: "plain small", "aria-label": `${name}: ${statement}` }, name);
  button.addEventListener("click", async () => {
    try {
      await run(item, fact, statement);
    } catch (error) {
      fillItem(item, fact, problem(error));
    }
    if (!button.isConnected) item.querySelector("button")?.focus();
  });
  return button;
}

const judge = (call) => async (item, fact, statement) => {
  const changed = await call(fact.id);
  fillItem(item, { ...fact, ...changed });
  announce(`${statement}: ${changed.status}`);
};

/** Show a form for another value; the new fact replaces this one. */
function edit(item, fact) {
  const form = editForm(fact, (changed) => {
    const old = factItem({ ...fact, status: "superseded" });
    item.after(old);
    fillItem(item, changed);
    item.dataset.fact = changed.id;
    announce("Fact changed");
  });
  item.querySelector(".below")?.remove();
  item.append(form);
  form.querySelector("input").focus();
}

async function showTimeline(item, fact) {
  const shown = item.querySelector(".below.timeline");
  item.querySelector(".below")?.remove();
  if (!shown) item.append(await timeline(fact));
}

async function forget(item, fact, statement) {
  const question = `Forget “${statement}”? This deletes the fact and its history and cannot be undone.`;
  if (!(await confirmed(question, "Forget"))) return;
  await api.forgetFact(fact.id);
  const near = item.nextElementSibling ?? item.previousElementSibling;
  item.remove();
  (near?.querySelector("button") ?? document.getElementById("main")).focus();
  announce(`Forgotten: ${statement}`);
}

/** Show the facts of the namespace, filtered by subject and status. */
export async function showFacts(main, params) {
  const subject = params.get("subject") ?? "";
  const wanted = params.get("status") ?? "";
  document.title = "Facts · Weft";
  const list = el("ul", { class: "facts grid" });
  const more = el("button", { type: "button", class: "plain", hidden: true }, "Show more");
  const total = el("p", { class: "quiet" });
  let after = "";
  let shown = 0;
  const load = async () => {
    const kept = [];
    do {
      const page = await api.facts(subject, after, wanted ? 1000 : 120);
      kept.push(...page.facts.filter((fact) => !wanted || fact.status === wanted));
      after = page.next ?? "";
    } while (after && kept.length < 120);
    list.append(...kept.map(factItem));
    shown += kept.length;
    more.hidden = !after;
    const which = [
      shown
        ? plural(shown, `${STATUS[wanted] ?? ""} fact`.trim())
        : `No ${STATUS[wanted] ?? ""} fact`.replace("  ", " "),
    ];
    if (subject) which.push(`about ${subject}`);
    if (!shown && !subject && !wanted) which.push("is stored in this namespace yet");
    replace(total, el("span", {}, `${which.join(" ")}${after ? ", more available" : ""}`));
  };
  more.addEventListener("click", () => load().catch((error) => replace(total, problem(error))));
  replace(
    main,
    el("h1", {}, "Facts"),
    el("p", { class: "lead" }, "Stored facts. Confirmed facts are trusted; rejected facts are never recalled."),
    el("p", {}, link("timeline", {}, {}, "What was said, by day")),
    filterForm(subject, wanted),
    statementForm(),
    total,
    list,
    more,
  );
  await load();
}

function filterForm(subject, wanted) {
  return el(
    "form",
    {
      class: "tools",
      action: "#/facts",
      role: "search",
      on: {
        submit: (event) => {
          event.preventDefault();
          const data = new FormData(event.target);
          location.hash = `#/facts?${new URLSearchParams([...data].filter(([, value]) => value))}`;
        },
      },
    },
    el(
      "label",
      {},
      "About ",
      el("input", { name: "subject", value: subject, placeholder: "any subject", autocomplete: "off" }),
    ),
    el(
      "label",
      {},
      "Status ",
      el(
        "select",
        { name: "status" },
        ["", ...Object.keys(STATUS)].map((name) =>
          el("option", { value: name, selected: name === wanted }, STATUS[name] ?? "any"),
        ),
      ),
    ),
    el("button", { class: "plain" }, "Show"),
  );
}

function statementForm() {
  const outcome = el("p", { class: "quiet", role: "status" });
  const form = el(
    "form",
    { class: "tools state-form" },
    ...["subject", "predicate", "value"].map((name) =>
      el(
        "label",
        {},
        `${name[0].toUpperCase()}${name.slice(1)} `,
        el("input", { name, required: true, autocomplete: "off", maxlength: 1000 }),
      ),
    ),
    el("button", { class: "primary" }, "Add"),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const [done] = (await api.addFact(Object.fromEntries(new FormData(form)))).facts;
      outcome.textContent = done.reason ? `${done.outcome}: ${done.reason}` : done.outcome;
      if (done.fact) document.querySelector(".facts.grid").prepend(factItem(done.fact));
      if (done.fact) form.reset();
    } catch (error) {
      outcome.textContent = problem(error);
    }
  });
  return el("details", { class: "panel" }, el("summary", {}, "Add a fact"), form, outcome);
}
