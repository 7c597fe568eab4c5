/* Lists beside the drawing: communities, members, search results, one entity, a path. */

import { count, digits, el, link, plural, words } from "../dom.js";

const MAX_LISTED = 60;

const back = (onBack) => el("button", { type: "button", class: "plain small", on: { click: onBack } }, "Whole graph");

const choice = (text, note, run) =>
  el(
    "li",
    {},
    el(
      "button",
      { type: "button", class: "choice", on: { click: run } },
      el("span", {}, text),
      el("span", { class: "quiet" }, note),
    ),
  );

/** Return the communities, largest first. */
export function communityList(clusters, onSelect) {
  return [
    el("h2", {}, plural(clusters.length, "community", "communities")),
    el("p", { class: "quiet" }, "Named after the entity that most passages mention."),
    el(
      "ul",
      { class: "choices" },
      clusters
        .slice(0, MAX_LISTED)
        .map(({ name, count: size }, c) => choice(name, plural(size, "entity", "entities"), () => onSelect(c))),
    ),
    rest(clusters.length),
  ];
}

const rest = (all) =>
  all > MAX_LISTED ? el("p", { class: "quiet" }, `The first ${MAX_LISTED} of ${count(all)} are listed.`) : null;
const entityChoice = (model, i, onSelect) =>
  choice(
    model.names[i],
    [model.types[model.type[i]], plural(model.chunks[i], "passage")].filter(Boolean).join(", "),
    () => onSelect(i),
  );

/** Return the members of a community, most mentioned first. */
export function memberList(model, { name }, members, { onSelect, onBack }) {
  return [
    el("header", { class: "row" }, el("h2", {}, `Community of ${name}`), back(onBack)),
    el("p", { class: "quiet" }, plural(members.length, "entity", "entities")),
    el(
      "ul",
      { class: "choices" },
      members.slice(0, MAX_LISTED).map((i) => entityChoice(model, i, onSelect)),
    ),
    rest(members.length),
  ];
}

/** Return the entities found by name. */
export function foundList(model, found, onSelect) {
  return [
    el("h2", {}, found.length ? "Found" : "No entity has such a name"),
    el(
      "ul",
      { class: "choices" },
      found.map((i) => entityChoice(model, i, onSelect)),
    ),
  ];
}

/** Return an entity with its relations and what can be done with it. */
export function entityPanel(model, i, relations, { onSelect, onPin, onExpand, onPath, onBack }) {
  const type = model.types[model.type[i]];
  const button = (name, kind, run) =>
    el("button", { type: "button", class: `plain small ${kind}`, on: { click: run } }, name);
  return [
    el(
      "header",
      { class: "row" },
      el("h2", {}, model.names[i]),
      type ? el("span", { class: "tag" }, type) : null,
      back(onBack),
    ),
    el(
      "p",
      { class: "quiet" },
      `Mentioned in ${plural(model.chunks[i], "passage")}. `,
      link("entity", { name: model.names[i] }, {}, "Open entity"),
    ),
    el(
      "div",
      { class: "row" },
      button(model.isPinned[i] ? "Unpin" : "Pin", "pin", onPin),
      button("Expand", "expand", onExpand),
    ),
    el("p", { class: "quiet expanded" }),
    pathForm(model, onPath),
    el("h3", {}, plural(relations.length, "relation")),
    el(
      "ul",
      { class: "choices" },
      relations.slice(0, MAX_LISTED).map(({ other, kind, weight, isOut }) => {
        const sign = kind.directed ? (isOut ? "→" : "←") : "–";
        return choice(`${sign} ${model.names[other]}`, `${words(kind.name)}, weight ${digits(weight)}`, () =>
          onSelect(other),
        );
      }),
    ),
    rest(relations.length),
  ];
}

function pathForm(model, onPath) {
  const field = el("input", {
    name: "target",
    autocomplete: "off",
    required: true,
    placeholder: "another entity",
    list: "path-names",
  });
  const names = el("datalist", { id: "path-names" });
  field.addEventListener("input", () =>
    names.replaceChildren(...model.find(field.value, 12).map((i) => el("option", { value: model.names[i] }))),
  );
  const form = el(
    "form",
    { class: "tools" },
    el("label", {}, "Path to ", field),
    names,
    el("button", { class: "plain" }, "Find path"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onPath(field.value.trim());
  });
  return form;
}

/** Return a path as numbered steps. */
export function pathPanel(from, to, path, onBack) {
  return [
    el(
      "header",
      { class: "row" },
      el("h2", {}, `Path to ${to}`),
      el("button", { type: "button", class: "plain small", on: { click: onBack } }, `Back to ${from}`),
    ),
    path.length
      ? el(
          "ol",
          { class: "steps" },
          path.map(({ source, type, target, weight }) =>
            el(
              "li",
              {},
              el("b", {}, source),
              ` ${words(type)} `,
              el("b", {}, target),
              el("span", { class: "quiet" }, ` weight ${digits(weight)}`),
            ),
          ),
        )
      : el("p", {}, "No path of at most four relations connects them."),
  ];
}
