/* Small graph of entities, drawn by the renderer of the explorer: expand on click, drag; a list says the same. */

import * as api from "./api.js";
import { announce, el, link, plural, problem, replace } from "./dom.js";
import { Camera } from "./explorer/camera.js";
import { hover } from "./explorer/hover.js";
import { HUES, Model, shown } from "./explorer/model.js";
import { hueClass, relationChoices } from "./explorer/panel.js";
import { Renderer } from "./explorer/renderer.js";
import { measure } from "./labels.js";
import { place, step } from "./layout.js";

const MAX_POINTS = 60;
const MAX_NEW_NEIGHBOURS = 9;
/** The server follows this many of the strongest relations of an entity. */
const MAX_FOLLOWED_RELATIONS = 50;
const MAX_LISTED = 8;
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

export class Graph {
  constructor() {
    this.model = new Model();
    this.points = new Map();
    this.size = { width: 480, height: 400 };
    this.canvas = el("canvas", {
      class: "canvas",
      tabindex: 0,
      role: "img",
      "aria-label": "Drawing of the graph. The list below it has the same content.",
    });
    this.trouble = el("p", { class: "problem trouble", role: "alert" });
    this.about = el("div", { class: "about", "aria-live": "polite" });
    this.legend = el("div", { class: "legend" });
    this.larger = el("button", { type: "button", class: "plain small", on: { click: () => this.enlarge() } }, "Enlarge");
    this.window = el("dialog", { class: "large", "aria-label": "Graph", on: { close: () => this.shrink() } });
    this.title = el("h2", {}, "Graph");
    this.element = el(
      "section",
      { class: "graph panel", id: "graph", "aria-label": "Graph around the results" },
      el("header", { class: "row" }, this.title, this.larger),
      el("div", { class: "drawing" }, this.canvas),
      this.legend,
      this.trouble,
      this.about,
    );
    this.camera = new Camera(this.canvas, {
      isInline: true,
      onChange: () => this.renderer?.request(),
      onPress: (at) => this.renderer.pick(at),
      onDrag: (i, at) => this.drag(i, at),
      onClick: (at) => this.click(at),
      onOpen: () => {},
    });
    hover(this.canvas, (event) => {
      const i = this.renderer?.pick(this.camera.at(event)) ?? null;
      return i === null ? null : this.model.names[i];
    });
    new ResizeObserver(() => this.measure()).observe(this.canvas);
  }

  /** Add an entity, beside `near` if given. Returns null if the graph is full. */
  add(entity, near) {
    let point = this.points.get(entity.name);
    if (point) {
      point.entity = { ...point.entity, ...entity };
      return point;
    }
    if (this.points.size >= MAX_POINTS) return null;
    const i = this.model.add({ type: "", chunks: 1, ...entity }, 0, 0);
    point = { name: entity.name, entity, i, isOpen: false, radius: this.model.radius(i) };
    place(point, this.points.size, { ...this.size, near });
    measure(point, shown(point.name).slice(0, 32));
    this.points.set(entity.name, point);
    return point;
  }

  /** Add a relation between two entities of the graph. */
  relate({ source, target, type, weight }) {
    const [a, b] = [this.points.get(source), this.points.get(target)];
    if (a && b && a !== b) this.model.relate(a.i, b.i, this.model.kindOf(type), weight);
  }

  /** Fetch and draw the neighbours of an entity. */
  async expand(name, { limit = MAX_NEW_NEIGHBOURS, quiet = false } = {}) {
    const point = this.points.get(name);
    if (!point || point.isOpen) return;
    const found = await api.neighbours(name, limit);
    point.isOpen = true;
    point.omitted = found.omitted;
    point.isCut = found.neighbours.length + found.omitted >= MAX_FOLLOWED_RELATIONS;
    point.entity = { ...point.entity, ...found.entity };
    const before = this.points.size;
    for (const { entity, path } of found.neighbours) {
      if (this.add(entity, point)) path.forEach((relation) => this.relate(relation));
    }
    this.draw();
    if (!quiet) announce(`${plural(this.points.size - before, "entity", "entities")} added around ${name}`);
  }

  /** Expand and select the first entity. */
  async begin(name, limit) {
    await this.expand(name, { limit, quiet: true }).catch((error) => this.showError(error));
    this.select(name);
  }

  /** Show an error below the graph, or clear it. */
  showError(error) {
    this.trouble.textContent = error ? problem(error) : "";
  }

  /** Select an entity: describe it and draw its relations in front. */
  select(name) {
    const point = this.points.get(name);
    if (!point) return;
    const relations = this.model.relations(point.i);
    const near = new Set(relations.map(({ other }) => other));
    const edges = new Set(relations.map(({ edge }) => edge));
    if (this.renderer) this.renderer.focus = { selected: point.i, near, edges, found: new Set() };
    this.renderer?.request();
    replace(this.about, this.describe(point, relations));
  }

  describe({ entity, name, omitted, isCut }, relations) {
    return [
      el(
        "p",
        { class: "row" },
        el("strong", {}, name),
        entity.type && el("span", { class: "tag" }, entity.type),
        link("entity", { name }, { class: "more" }, "Open entity"),
      ),
      entity.description && el("p", { class: "quiet clamp" }, entity.description),
      el(
        "ul",
        { class: "choices" },
        relationChoices(this.model, relations, (i) => this.open(i)).slice(0, MAX_LISTED),
      ),
      omitted ? el("p", { class: "quiet" }, `${isCut ? "at least " : ""}${plural(omitted, "neighbour")} not drawn`) : null,
    ];
  }

  /** Redraw everything and start the layout. */
  draw() {
    const { model } = this;
    if (!this.renderer) {
      this.renderer = new Renderer(this.canvas, this.camera, model);
      this.renderer.followTheme();
    }
    model.colour("type");
    replace(
      this.legend,
      model.groups.filter(({ hue }) => hue < HUES).map(({ name, hue }) => el("span", { class: `key ${hueClass(hue)}` }, name)),
    );
    this.title.textContent = `Graph · ${plural(this.points.size, "entity", "entities")}`;
    this.measure();
    this.settle(1);
  }

  /** Lay out the points within the frame, in steps that can be seen unless motion is reduced. */
  settle(heat) {
    cancelAnimationFrame(this.frame);
    let left = heat;
    const points = [...this.points.values()];
    const { model } = this;
    const links = Array.from({ length: model.size }, (_, e) => ({ a: points[model.source[e]], b: points[model.target[e]] }));
    const tick = () => {
      step(points, links, { ...this.size, heat: left });
      left *= 0.982;
    };
    const end = () => {
      this.element.dataset.settled = "true";
      this.element.dataset.places = JSON.stringify(points.map(({ name, x, y }) => [name, Math.round(x), Math.round(y)]));
    };
    if (reducedMotion.matches || document.hidden) {
      for (let n = 0; n < 260; n += 1) tick();
      this.move(points);
      return end();
    }
    const run = () => {
      tick();
      tick();
      this.move(points);
      if (left > 0.02) this.frame = requestAnimationFrame(run);
      else end();
    };
    delete this.element.dataset.settled;
    run();
  }

  move(points) {
    for (const { i, x, y } of points) [this.model.x[i], this.model.y[i]] = [x, y];
    this.renderer.request();
  }

  drag(i, { x, y }) {
    Object.assign([...this.points.values()][i], { x, y, pinned: true });
    this.settle(0.35);
  }

  click(at) {
    const i = this.renderer.pick(at);
    if (i !== null) this.open(i);
  }

  /** Select an entity and add its neighbours. */
  async open(i) {
    const name = this.model.names[i];
    this.select(name);
    this.showError(null);
    try {
      await this.expand(name);
    } catch (error) {
      this.showError(error);
      return;
    }
    this.select(name);
    this.about.querySelector(".more")?.focus({ preventScroll: true });
  }

  /** Enlarge the graph to the whole window, or close the enlarged view. */
  enlarge() {
    if (this.window.open) {
      this.window.close();
      return;
    }
    this.element.before(this.window);
    this.window.append(this.element);
    this.window.showModal();
    this.larger.textContent = "Close";
    this.larger.focus();
    this.measure();
  }

  shrink() {
    this.window.replaceWith(this.element);
    this.larger.textContent = "Enlarge";
    this.larger.focus();
    this.measure();
  }

  /** Adapt the layout to the size of the canvas; a unit of the plane is a pixel. */
  measure() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width || !this.renderer || (width === this.camera.width && height === this.camera.height)) return;
    const [sx, sy] = [width / this.size.width, height / this.size.height];
    for (const point of this.points.values()) [point.x, point.y] = [point.x * sx, point.y * sy];
    this.size = { width, height };
    this.renderer.resize();
    this.camera.look(width / 2, height / 2, 1);
    this.settle(1);
  }
}
