/* View of the whole graph: drawing, tools, and a list beside it that says the same. */

import * as api from "../api.js";
import { announce, count, el, plural, problem, replace } from "../dom.js";
import { Camera } from "./camera.js";
import { savePng, saveSvg } from "./export.js";
import { hover } from "./hover.js";
import { filterPanel } from "./legend.js";
import { HUES, Model } from "./model.js";
import { COLOURINGS, entityPanel, foundList, groupList, hueClass, memberList, pathPanel } from "./panel.js";
import { Renderer } from "./renderer.js";

const MAX_FOUND = 30;
const MAX_EXPANDED = 100;
/** Scale at which a chosen entity is shown: its neighbours have names. */
const CLOSE_SCALE = 2;

/** Show the graph of the namespace. */
export async function showExplorer(main, params) {
  document.title = "Graph · Weft";
  const data = await api.overview();
  if (!data.entities.name.length) {
    replace(main, el("h1", {}, "Graph"), el("p", { class: "quiet" }, "This namespace has no entities yet."));
    return;
  }
  const explorer = new Explorer(new Model(data));
  replace(main, explorer.element);
  explorer.start(params.get("name") ?? "");
}

class Explorer {
  constructor(model) {
    this.model = model;
    this.canvas = el("canvas", {
      class: "whole",
      tabindex: 0,
      role: "img",
      "aria-label": "Drawing of the graph. The list beside it has the same content.",
      "aria-describedby": "graph-keys",
    });
    this.panel = el("section", { class: "beside", "aria-label": "Content of the drawing", "aria-live": "polite" });
    this.trouble = el("p", { class: "problem", role: "alert" });
    this.legend = el("div", { class: "legend" });
    this.state = el("p", { class: "quiet", role: "status" }, "Arranging…");
    this.camera = new Camera(this.canvas, {
      onChange: () => this.renderer?.request(),
      onPress: (point) => this.renderer.pick(point),
      onDrag: (i, point) => this.drag(i, point),
      onClick: (point) => this.click(point),
      onOpen: (point) => this.open(point),
    });
    this.element = this.frame();
  }

  frame() {
    const { total, count: drawn } = this.model;
    const others = total.entities - drawn;
    return el(
      "div",
      { class: "explorer" },
      el("h1", {}, "Graph"),
      el(
        "p",
        { class: "lead" },
        `${plural(drawn, "entity", "entities")} with a title, a definition or a link, and their strongest relations. `,
        others > 0 ? `${plural(others, "other name")} and weaker relations are not drawn. ` : null,
      ),
      this.tools(),
      el(
        "div",
        { class: "plane" },
        el("div", { class: "drawing panel" }, this.canvas, this.state, this.legend),
        el("div", { class: "aside panel" }, this.trouble, this.panel),
      ),
      el(
        "p",
        { class: "quiet", id: "graph-keys" },
        "Keys in the drawing: arrows move, + and − zoom. Drag an entity to pin it; double-click to expand it.",
      ),
      filterPanel(this.model, () => this.refilter()),
    );
  }

  tools() {
    const field = el("input", {
      type: "search",
      name: "name",
      id: "find-entity",
      placeholder: "name of an entity",
      autocomplete: "off",
    });
    field.addEventListener("input", () => this.find(field.value));
    const form = el("form", { class: "tools", role: "search" }, el("label", {}, "Find ", field));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [first] = this.model.find(field.value, 1);
      if (first !== undefined) this.select(first, { isNear: true });
    });
    this.kind = "community";
    const colours = el(
      "select",
      { name: "colours" },
      Object.entries(COLOURINGS).map(([value, [one]]) => el("option", { value }, one)),
    );
    colours.addEventListener("change", () => this.colour(colours.value));
    form.append(el("label", {}, "Colour by ", colours));
    const button = (name, label, run) =>
      el("button", { type: "button", class: "plain", "aria-label": label, on: { click: run } }, name);
    form.append(
      button("+", "Zoom in", () => this.camera.zoom(1.4)),
      button("−", "Zoom out", () => this.camera.zoom(1 / 1.4)),
      button("Whole graph", "Show the whole graph", () => this.showAll()),
      button("PNG", "Save as PNG", () => savePng(this.renderer)),
      button("SVG", "Save as SVG", () => saveSvg(this.renderer)),
    );
    return form;
  }

  /** Lay out the graph in a worker and draw it meanwhile. */
  start(name) {
    this.renderer = new Renderer(this.canvas, this.camera, this.model);
    hover(this.canvas, (event) => {
      const i = this.renderer.isFar() ? null : this.renderer.pick(this.camera.at(event));
      return i === null ? null : this.model.names[i];
    });
    new ResizeObserver(() => this.renderer.resize()).observe(this.canvas);
    this.renderer.resize();
    this.renderer.followTheme();
    const { model } = this;
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    const [source, target] = [model.source.slice(0, model.size), model.target.slice(0, model.size)];
    worker.postMessage({ count: model.count, source, target, weight: model.weight.slice(0, model.size) });
    worker.addEventListener("message", ({ data }) => {
      if (!this.element.isConnected) return worker.terminate();
      model.x.set(data.x);
      model.y.set(data.y);
      if (data.isDone) this.arranged(data, name);
      this.fitAll();
      if (data.isDone) worker.terminate();
    });
  }

  arranged({ community, communities, discs, hasRest }, name) {
    this.model.setCommunities(community, communities, hasRest);
    this.model.colour(this.kind);
    this.renderer.setClusters(discs);
    this.state.textContent = "";
    this.element.dataset.arranged = String(communities);
    this.showGroups();
    // A section is drawn as its page.
    const [at = -1] = [name, name.split(" › ")[0]].map((n) => this.model.names.indexOf(n)).filter((i) => i >= 0);
    if (at >= 0) setTimeout(() => this.select(at, { isNear: true }));
  }

  fitAll() {
    const { x, y, count: all } = this.model;
    const { clusters } = this.renderer;
    const rounds = clusters.length
      ? clusters
      : Array.from({ length: all }, (_, i) => ({ x: x[i], y: y[i], radius: 20 }));
    const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
    for (const round of rounds) {
      box.left = Math.min(box.left, round.x - round.radius);
      box.right = Math.max(box.right, round.x + round.radius);
      box.top = Math.min(box.top, round.y - round.radius);
      box.bottom = Math.max(box.bottom, round.y + round.radius);
    }
    this.camera.fit(box, { max: CLOSE_SCALE });
  }

  showAll() {
    this.setFocus({});
    this.fitAll();
    this.showGroups();
  }

  colour(kind) {
    this.kind = kind;
    this.model.colour(kind);
    this.showAll();
  }

  setFocus({ selected = -1, near = [], edges = [], found = [] }) {
    this.renderer.focus = { selected, near: new Set(near), edges: new Set(edges), found: new Set(found) };
    this.renderer.request();
  }

  showGroups() {
    const { groups } = this.model;
    replace(
      this.panel,
      groupList(groups, this.kind, (group) => this.showGroup(group)),
    );
    const coloured = groups.filter(({ hue }) => hue < HUES);
    replace(
      this.legend,
      coloured.map(({ name, hue }) => el("span", { class: `key ${hueClass(hue)}` }, name)),
      coloured.length < groups.length ? el("span", { class: "key no-hue" }, "others") : null,
    );
    this.renderer.resize(); // the legend takes room of the drawing
  }

  /** List the members of a group; a community is shown alone, the members of another group are ringed. */
  showGroup(group) {
    const isCommunity = this.kind === "community";
    this.setFocus({ found: isCommunity ? [] : group.members });
    if (isCommunity) this.fitCluster(this.renderer.clusters[group.key]);
    else this.fitAll();
    const options = { onSelect: (i) => this.select(i, { isNear: true }), onBack: () => this.showAll() };
    replace(this.panel, memberList(this.model, group, options));
    announce(`${group.name}, ${plural(group.members.length, "entity", "entities")}`);
  }

  fitCluster({ x, y, radius }) {
    this.camera.fit({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius }, { max: CLOSE_SCALE });
  }

  showCommunity(c) {
    const group = this.kind === "community" && this.model.groups.find(({ key }) => key === c);
    if (group) this.showGroup(group);
    else this.fitCluster(this.renderer.clusters[c]);
  }

  find(text) {
    const found = this.model.find(text, MAX_FOUND);
    this.setFocus({ found });
    if (!text.trim()) return this.showGroups();
    replace(
      this.panel,
      foundList(this.model, found, (i) => this.select(i, { isNear: true })),
    );
  }

  /** Select an entity: list its relations and draw them in front. */
  select(i, { isNear = false } = {}) {
    const relations = this.model.relations(i);
    this.setFocus({ selected: i, near: relations.map(({ other }) => other), edges: relations.map(({ edge }) => edge) });
    if (isNear) this.camera.look(this.model.x[i], this.model.y[i], Math.max(this.camera.scale, CLOSE_SCALE));
    const actions = {
      onSelect: (other) => this.select(other, { isNear: true }),
      onPin: () => this.pin(i),
      onExpand: () => this.expand(i),
      onPath: (name) => this.showPath(i, name),
      onBack: () => this.showAll(),
    };
    replace(this.panel, entityPanel(this.model, i, relations, actions));
  }

  pin(i) {
    this.model.isPinned[i] = this.model.isPinned[i] ? 0 : 1;
    this.select(i);
    announce(this.model.isPinned[i] ? "Pinned" : "Unpinned");
    this.panel.querySelector(".pin")?.focus();
  }

  /** A dragged entity is pinned at its new place. */
  drag(i, { x, y }) {
    [this.model.x[i], this.model.y[i], this.model.isPinned[i]] = [x, y, 1];
    this.renderer.request();
  }

  click(point) {
    const i = this.renderer.pick(point);
    const c = this.renderer.pickCluster(point);
    if (i !== null && !this.renderer.isFar()) this.select(i);
    else if (c >= 0 && this.renderer.isFar()) this.showCommunity(c);
    else if (i !== null) this.select(i, { isNear: true });
    else this.setFocus({});
  }

  open(point) {
    const i = this.renderer.pick(point);
    if (i === null) this.camera.look(point.x, point.y, this.camera.scale * 2);
    else this.expand(i);
  }

  /** Add all neighbours of an entity, also those that the overview leaves out. */
  async expand(i) {
    const { model } = this;
    const before = [model.count, model.size];
    try {
      this.trouble.textContent = "";
      const { neighbours } = await api.neighbours(model.names[i], MAX_EXPANDED);
      neighbours.forEach(({ entity, path }, n) => {
        const at = model.add(entity, i, (2 * Math.PI * n) / neighbours.length);
        const isRelated = at >= 0 && model.of[i].some((e) => model.source[e] === at || model.target[e] === at);
        if (at >= 0 && !isRelated) model.relate(i, at, model.kindOf(path[0].type), path[0].weight);
      });
    } catch (error) {
      this.trouble.textContent = problem(error);
      return;
    }
    model.filter();
    this.select(i, { isNear: true });
    const added = `${plural(model.count - before[0], "entity", "entities")} and ${plural(model.size - before[1], "relation")} added`;
    announce(added);
    this.panel.querySelector(".expanded").textContent = `${added}.`;
  }

  /** Draw the best path from an entity to a name. */
  async showPath(i, name) {
    const { model } = this;
    try {
      this.trouble.textContent = "";
      const { found, path } = await api.path(model.names[i], name);
      const steps = path.map((step, n) => this.placeStep(step, i, n));
      this.setFocus({ selected: i, near: steps.flatMap(({ a, b }) => [a, b]), edges: steps.map(({ edge }) => edge) });
      if (steps.length) this.fitPoints([i, ...steps.map(({ b }) => b)]);
      replace(
        this.panel,
        pathPanel(model.names[i], name, found ? path : [], () => this.select(i)),
      );
      announce(found ? `Path of ${plural(path.length, "step")}` : "No path found");
    } catch (error) {
      this.trouble.textContent = problem(error);
    }
  }

  placeStep({ source, target, type, weight }, near, n) {
    const a = this.model.add({ name: source, type: "", chunks: 0 }, near, n);
    const b = this.model.add({ name: target, type: "", chunks: 0 }, a, n);
    const known = this.model.of[a].find((e) => this.model.source[e] === b || this.model.target[e] === b);
    return { a, b, edge: known ?? this.model.relate(a, b, this.model.kindOf(type), weight) };
  }

  fitPoints(points) {
    const { x, y } = this.model;
    const [xs, ys] = [points.map((i) => x[i]), points.map((i) => y[i])];
    const box = {
      left: Math.min(...xs) - 60,
      right: Math.max(...xs) + 60,
      top: Math.min(...ys) - 60,
      bottom: Math.max(...ys) + 60,
    };
    this.camera.fit(box, { max: CLOSE_SCALE });
  }

  refilter() {
    this.model.filter();
    this.renderer.request();
    const { selected } = this.renderer.focus;
    if (selected >= 0) this.select(selected);
  }
}
