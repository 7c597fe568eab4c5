/* Views of entities: list of the most mentioned ones, and one entity. */

import * as api from "./api.js";
import { digits, el, link, plural, replace, short, words } from "./dom.js";
import { entityEdits, lastEdit } from "./entity_edits.js";
import { factList } from "./facts.js";
import { Graph } from "./graph.js";
import { marked, matcher } from "./markdown/highlight.js";

/** Relations of at least this weight were stated in the text; weaker ones are co-occurrences. */
const MIN_STATED_WEIGHT = 7;
const MAX_RELATIONS = 60;
const MAX_MENTIONS = 20;
const MAX_FACTS = 12;

/** Show the most mentioned entities, and a field to look up others. */
export async function showEntities(main) {
  document.title = "Entities · Weft";
  const { entities } = await api.topEntities(90);
  replace(
    main,
    el("h1", {}, "Entities"),
    lastEdit(),
    el("p", { class: "lead" }, "Entities found in the documents, most mentioned first."),
    lookUp(),
    el(
      "ul",
      { class: "entities" },
      entities.map((entity) =>
        el(
          "li",
          {},
          link(
            "entity",
            { name: entity.name },
            { class: "entity" },
            el("strong", {}, entity.name),
            entity.type ? el("span", { class: "tag" }, entity.type) : null,
            el("span", { class: "quiet clamp" }, entity.description),
            el("span", { class: "number" }, plural(entity.chunks, "chunk")),
          ),
        ),
      ),
    ),
    entities.length ? null : el("p", { class: "quiet" }, "This namespace has no entities yet."),
  );
}

function lookUp() {
  return el(
    "form",
    {
      class: "tools",
      role: "search",
      on: {
        submit: (event) => {
          event.preventDefault();
          const name = new FormData(event.target).get("name").trim();
          if (name) location.hash = `#/entity?${new URLSearchParams({ name })}`;
        },
      },
    },
    el(
      "label",
      {},
      "Look up ",
      el("input", { name: "name", placeholder: "name, alias or id", autocomplete: "off", required: true }),
    ),
    el("button", { class: "plain" }, "Open"),
  );
}

/** Show an entity: description, aliases, relations, mentions, facts and the graph around it. */
export async function showEntity(main, params) {
  const name = params.get("name") ?? "";
  const { entity, relations, mentions } = await api.entity(name, MAX_RELATIONS);
  const [notice, edits] = await entityEdits(entity);
  document.title = `${entity.name} · Weft`;
  const graph = new Graph();
  const facts = el("div");
  const side = el("div", { class: "side" }, graph.element);
  replace(
    main,
    el(
      "div",
      { class: "answer" },
      el(
        "div",
        { class: "found" },
        el(
          "p",
          { class: "row trail" },
          link("entities", {}, {}, "Entities"),
          entity.type ? el("span", { class: "tag" }, entity.type) : null,
        ),
        el("h1", {}, entity.name),
        notice,
        entity.aliases.length
          ? el(
              "p",
              { class: "aliases" },
              el("span", { class: "quiet" }, "Also known as "),
              entity.aliases.map((name) => el("span", { class: "chip still" }, name)),
            )
          : null,
        entity.description ? el("p", { class: "lead" }, entity.description) : null,
        el(
          "p",
          { class: "quiet" },
          `Mentioned ${plural(entity.mentions, "time")} in ${plural(entity.chunks, "chunk")}`,
          " · ",
          link("ask", { q: entity.name }, {}, "Ask about it"),
          " · ",
          link("graph", { name: entity.name }, {}, "Show in the whole graph"),
        ),
        relationTable(relations),
        mentionList(mentions, entity.chunks, [entity.name, ...entity.aliases]),
        facts,
        edits,
      ),
      side,
    ),
  );
  graph.add(entity);
  graph.draw();
  const [found] = await Promise.all([api.facts(entity.name, "", MAX_FACTS), graph.begin(entity.name, 12)]);
  if (!found.facts.length) return;
  const all = link("facts", { subject: entity.name }, {}, "All facts about this entity");
  const more = found.next && el("p", { class: "quiet" }, all);
  replace(facts, el("h2", {}, "Facts"), factList(found.facts), more);
}

function relationTable(relations) {
  if (!relations.length) return null;
  const groups = new Map();
  for (const { target, type, weight } of relations) {
    const group = groups.get(type) ?? groups.set(type, new Map()).get(type);
    group.set(target, Math.max(weight, group.get(target) ?? 0));
  }
  const strongest = (group) => Math.max(...group.values());
  const sorted = [...groups].sort((a, b) => strongest(b[1]) - strongest(a[1]));
  const rows = (some) =>
    el(
      "dl",
      { class: "groups" },
      some.map(([type, group]) => [
        el("dt", {}, words(type)),
        el(
          "dd",
          {},
          [...group].map(([name, weight]) =>
            link("entity", { name }, { class: "chip" }, name, el("b", {}, digits(weight))),
          ),
        ),
      ]),
    );
  const stated = sorted.filter(([, group]) => strongest(group) >= MIN_STATED_WEIGHT);
  const loose = sorted.filter(([, group]) => strongest(group) < MIN_STATED_WEIGHT);
  return [
    el("h2", {}, "Relations"),
    stated.length ? rows(stated) : null,
    loose.length
      ? el("details", { open: !stated.length }, el("summary", {}, "Weaker relations: mentioned together"), rows(loose))
      : null,
    relations.length < MAX_RELATIONS ? null : el("p", { class: "quiet" }, `The ${MAX_RELATIONS} strongest are shown.`),
  ];
}

function mentionList(mentions, chunks, names) {
  const pattern = matcher("", names);
  if (!mentions.length) return null;
  return [
    el("h2", {}, "Mentions"),
    el(
      "ul",
      { class: "mentions" },
      mentions
        .slice(0, MAX_MENTIONS)
        .map((found) =>
          el(
            "li",
            {},
            link(
              "document",
              { chunk: found.chunk_id },
              { class: "citation", title: found.citation },
              short(found.citation),
            ),
            el("span", { class: "quiet" }, found.about ? "main subject" : plural(found.count, "time")),
            el("p", { class: "quiet snippet" }, ...marked(found.snippet, pattern)),
          ),
        ),
    ),
    chunks > MAX_MENTIONS
      ? el("p", { class: "quiet" }, `${MAX_MENTIONS} of ${plural(chunks, "chunk")} are shown.`)
      : null,
  ];
}
