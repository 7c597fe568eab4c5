/* Lists beside the drawing: communities, members, search results, one entity, a path. */

import { count, digits, el, link, plural, words } from "../dom.js";
import { HUES } from "./model.js";

const MAX_LISTED = 60;

const back = (onBack) => el("button", { type: "button", class: "plain small", on: { click: onBack } }, "Whole graph");

const choice = (text, note, run, hue) =>
  el(
    "li",
    {},
    el(
      "button",
      { type: "button", class: "choice", on: { click: run } },
      el("span", hue === undefined ? {} : { class: `key ${hueClass(hue)}` }, text),
      el("span", { class: "quiet" }, note),
    ),
  );

/** Return the class that gives an element the colour of a group. */
export const hueClass = (hue) => (hue < HUES ? `hue-${hue}` : "no-hue");

/** Ways to colour the entities: the words for one group and for several, and what a group is. */
export const COLOURINGS = {
  community: ["community", "communities", "Groups with many relations inside, named after words typical of their entities."],
  folder: ["folder", "folders", "Folders of the documents that define the entities."],
  type: ["type", "types", "Types that the documents state."],
};

/** Return the groups that have a colour, largest first; it is the legend of the drawing too. */
export function groupList(groups, kind, onSelect) {
  const [one, many, meaning] = COLOURINGS[kind];
  return [
    el("h2", {}, plural(groups.length, one, many)),
    el("p", { class: "quiet" }, meaning),
    el(
      "ul",
      { class: "choices" },
      groups.slice(0, MAX_LISTED).map((group) => choice(group.name, count(group.members.length), () => onSelect(group), group.hue)),
    ),
    rest(groups.length),
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

/** Return the members of a group, most mentioned first. */
export function memberList(model, { name, members: all }, { onSelect, onBack }) {
  const members = all.filter((i) => model.isShown[i]);
  return [
    el("header", { class: "row" }, el("h2", {}, name), back(onBack)),
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
      relationChoices(model, relations, onSelect).slice(0, MAX_LISTED),
    ),
    rest(relations.length),
  ];
}

/** Return the entities related to one, each with the relations in words: those to it, then those from it. */
export function relationChoices(model, relations, onSelect) {
  const others = new Map();
  for (const { other, kind, isOut } of relations) {
    const found = others.get(other) ?? others.set(other, { to: [], from: [] }).get(other);
    (isOut || !kind.directed ? found.to : found.from).push(words(kind.name));
  }
  return [...others].map(([other, { to, from }]) => {
    const parts = [to.length ? `→ ${to.join(", ")}` : "", from.length ? `← ${from.join(", ")}` : ""];
    return choice(model.names[other], parts.filter(Boolean).join("; "), () => onSelect(other));
  });
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
