/* Interactive graph of entities (SVG): expand on click, drag, keyboard navigation. */

import * as api from "./api.js";
import { announce, digits, el, link, plural, problem, replace, svg, words } from "./dom.js";
import { measure, spread } from "./labels.js";
import { place, step } from "./layout.js";
import { isSymmetric, relationRow } from "./relations.js";

const MAX_POINTS = 60;
const MAX_NEW_NEIGHBOURS = 9;
/** The server follows this many of the strongest relations of an entity. */
const MAX_FOLLOWED_RELATIONS = 50;
const MAX_HUES = 6;
/** With more links than this, only those of the selected entity have labels. */
const MAX_LABELLED_LINKS = 12;
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

export class Graph {
  constructor({ height = 400 } = {}) {
    this.points = new Map();
    this.links = new Map();
    this.types = [];
    this.selected = null;
    this.size = { width: 480, height };
    this.canvas = svg("svg", { class: "canvas", role: "group", "aria-label": "Graph" });
    this.trouble = el("p", { class: "problem trouble", role: "alert" });
    this.about = el("div", { class: "about", "aria-live": "polite" });
    this.legend = el("div", { class: "legend" });
    this.larger = el(
      "button",
      { type: "button", class: "plain small", on: { click: () => this.enlarge() } },
      "Enlarge",
    );
    this.window = el("dialog", { class: "large", "aria-label": "Graph", on: { close: () => this.shrink() } });
    this.title = el("h2", {}, "Graph");
    this.element = el(
      "section",
      { class: "graph panel", id: "graph", "aria-label": "Graph around the results" },
      el("header", { class: "row" }, this.title, this.larger),
      this.canvas,
      this.legend,
      this.trouble,
      this.about,
    );
    this.element.addEventListener("keydown", (event) => this.onKey(event));
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
    point = { name: entity.name, entity, isOpen: false, isStart: false };
    place(point, this.points.size, { ...this.size, near });
    if (entity.type && !this.types.includes(entity.type)) this.types.push(entity.type);
    this.points.set(entity.name, point);
    return point;
  }

  /** Add a relation between two entities of the graph. Relations of the same pair share a line. */
  relate({ source, target, type, weight }) {
    const a = this.points.get(source);
    const b = this.points.get(target);
    if (!a || !b || a === b) return;
    const id = [source, target].sort().join("\n");
    const found = this.links.get(id) ?? { a, b, relations: [] };
    if (!found.relations.some((r) => r.type === type && r.source === source))
      found.relations.push({ source, target, type, weight });
    found.relations.sort((x, y) => y.weight - x.weight);
    found.a = this.points.get(found.relations[0].source);
    found.b = this.points.get(found.relations[0].target);
    this.links.set(id, found);
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

  /** Select an entity: describe it and highlight its relations. */
  select(name) {
    this.selected = this.points.get(name) ?? null;
    this.mark();
    if (this.selected?.group) this.nameLinks();
    if (this.selected) replace(this.about, this.describe(this.selected));
  }

  describe(point) {
    const { entity } = point;
    const own = [...this.links.values()].filter((l) => l.a === point || l.b === point);
    own.sort((x, y) => y.relations[0].weight - x.relations[0].weight);
    return [
      el(
        "p",
        { class: "row" },
        el("strong", {}, point.name),
        entity.type && el("span", { class: "tag" }, entity.type),
        link("entity", { name: point.name }, { class: "more" }, "Open entity"),
      ),
      entity.description && el("p", { class: "quiet clamp" }, entity.description),
      el(
        "ul",
        { class: "relations" },
        own.slice(0, 6).map((found) => relationRow(found, point)),
      ),
      point.omitted
        ? el(
            "p",
            { class: "quiet" },
            `${point.isCut ? "at least " : ""}${plural(point.omitted, "neighbour")} not drawn`,
          )
        : null,
    ];
  }

  /** Redraw everything and start the layout. */
  draw() {
    const lines = [...this.links.values()].map((l) => this.drawLink(l));
    const circles = [...this.points.values()].map((p) => this.drawPoint(p));
    const tip = svg(
      "marker",
      {
        id: "tip",
        viewBox: "0 0 8 8",
        refX: 7,
        refY: 4,
        markerWidth: 7,
        markerHeight: 7,
        orient: "auto-start-reverse",
        markerUnits: "userSpaceOnUse",
      },
      svg("path", { d: "M0 1L7 4L0 7z" }),
    );
    replace(
      this.canvas,
      svg("defs", {}, tip),
      svg("g", { class: "links" }, lines),
      svg(
        "g",
        { class: "labels" },
        [...this.links.values()].map((l) => l.label),
      ),
      svg("g", { class: "points" }, circles),
    );
    replace(
      this.legend,
      this.types.slice(0, MAX_HUES).map((type, hue) => el("span", { class: `key hue-${hue}` }, type)),
    );
    this.title.textContent = `Graph · ${plural(this.points.size, "entity", "entities")}`;
    this.mark();
    this.settle(1);
  }

  drawLink(found) {
    const [first, ...rest] = found.relations;
    const text = `${words(first.type)} ${digits(first.weight)}${rest.length ? ` +${rest.length}` : ""}`;
    found.line = svg("line", {
      "stroke-width": 0.8 + first.weight * 0.22,
      "marker-end": isSymmetric(first.type) ? null : "url(#tip)",
    });
    const width = text.length * 5.5 + 6;
    found.width = width;
    found.label = svg(
      "g",
      { class: "label" },
      svg("rect", { x: -width / 2, y: -8, width, height: 15, rx: 4 }),
      svg("text", { y: 3 }, text),
    );
    return found.line;
  }

  drawPoint(point) {
    const hue = this.types.indexOf(point.entity.type);
    point.radius = (7 + Math.min(Math.sqrt(point.entity.chunks ?? 1) * 2, 9)) * (this.size.width < 420 ? 0.8 : 1);
    measure(point, shorten(point.name));
    const names = [
      "point",
      hue < 0 || hue >= MAX_HUES ? "no-hue" : `hue-${hue}`,
      point.isStart && "start",
      point.isOpen && "open",
    ];
    const plus = point.isOpen ? null : svg("path", { class: "plus", d: "M-3 0H3M0-3V3" });
    point.group = svg(
      "g",
      {
        class: names.filter(Boolean).join(" "),
        role: "button",
        "data-name": point.name,
        "aria-label": [point.name, point.entity.type, point.isOpen ? "expanded" : "expand"].filter(Boolean).join(", "),
        on: { pointerdown: (event) => this.grab(event, point), focus: () => this.select(point.name) },
      },
      svg("title", {}, point.name),
      svg("circle", { r: point.radius }),
      plus,
      svg("text", { y: point.radius + 13, "aria-hidden": "true" }, shorten(point.name)),
    );
    return point.group;
  }

  /** Light up the selected entity and its relations. */
  mark() {
    for (const found of this.links.values()) {
      const isNear = this.selected && (found.a === this.selected || found.b === this.selected);
      found.line?.classList.toggle("near", Boolean(isNear));
    }
    const [first] = this.points.values();
    for (const point of this.points.values()) {
      point.group?.classList.toggle("selected", point === this.selected);
      // The graph is one Tab stop; arrow keys move between entities.
      point.group?.setAttribute("tabindex", point === (this.selected ?? first) ? 0 : -1);
    }
  }

  settle(heat) {
    cancelAnimationFrame(this.frame);
    let left = heat;
    const points = [...this.points.values()];
    const links = [...this.links.values()];
    const tick = () => {
      step(points, links, { ...this.size, heat: left });
      left *= 0.982;
    };
    if (reducedMotion.matches || document.hidden) {
      for (let i = 0; i < 260; i += 1) tick();
      this.move();
      this.element.dataset.settled = "true";
      return;
    }
    const run = () => {
      tick();
      tick();
      this.move();
      if (left > 0.02) this.frame = requestAnimationFrame(run);
      else this.element.dataset.settled = "true";
    };
    delete this.element.dataset.settled;
    run();
  }

  move() {
    for (const { a, b, line } of this.links.values()) {
      const dx = b.x - a.x;
      const dy = b.y - a.y;
      const distance = Math.max(Math.hypot(dx, dy), 1);
      const [ux, uy] = [dx / distance, dy / distance];
      set(line, {
        x1: a.x + ux * a.radius,
        y1: a.y + uy * a.radius,
        x2: b.x - ux * (b.radius + 3),
        y2: b.y - uy * (b.radius + 3),
      });
    }
    for (const point of this.points.values()) shift(point.group, point.x, point.y);
    this.nameLinks();
  }

  /** Label the relations of the selected entity, or all if they are few, without overlaps. */
  nameLinks() {
    const all = [...this.links.values()];
    const isFew = all.length <= MAX_LABELLED_LINKS;
    const named = all.filter((l) => isFew || l.a === this.selected || l.b === this.selected);
    named.sort((x, y) => y.relations[0].weight - x.relations[0].weight);
    for (const { label } of all) label?.classList.remove("shown");
    spread(named, [...this.points.values()], ({ label }, box) => {
      if (box) shift(label, box.x, box.y);
      label.classList.toggle("shown", Boolean(box));
    });
  }

  /** A click expands an entity; moving the pointer drags it. */
  grab(event, point) {
    event.preventDefault();
    point.group.focus({ preventScroll: true });
    const from = { x: event.clientX, y: event.clientY };
    let isDrag = false;
    point.group.setPointerCapture(event.pointerId);
    const onMove = (moved) => {
      if (!isDrag && Math.hypot(moved.clientX - from.x, moved.clientY - from.y) < 4) return;
      isDrag = true;
      point.pinned = true;
      const box = this.canvas.getBoundingClientRect();
      point.x = moved.clientX - box.left;
      point.y = moved.clientY - box.top;
      this.settle(0.35);
    };
    const onEnd = () => {
      point.group.removeEventListener("pointermove", onMove);
      if (!isDrag) this.open(point);
    };
    point.group.addEventListener("pointermove", onMove);
    point.group.addEventListener("pointerup", onEnd, { once: true });
    point.group.addEventListener("pointercancel", () => point.group.removeEventListener("pointermove", onMove), {
      once: true,
    });
  }

  async open(point) {
    this.select(point.name);
    this.showError(null);
    try {
      await this.expand(point.name);
    } catch (error) {
      this.showError(error);
      return;
    }
    this.select(point.name);
    point.group.focus({ preventScroll: true });
  }

  onKey(event) {
    const name = event.target.dataset?.name;
    if (name && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      this.open(this.points.get(name));
    } else if (name && event.key.startsWith("Arrow")) {
      event.preventDefault();
      const names = [...this.points.keys()];
      const by = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1;
      this.points.get(names[(names.indexOf(name) + by + names.length) % names.length]).group.focus();
    }
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

  /** Adapt the layout to the size of the canvas. */
  measure() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width || (width === this.size.width && height === this.size.height)) return;
    const [sx, sy] = [width / this.size.width, height / this.size.height];
    for (const point of this.points.values()) {
      point.x *= sx;
      point.y *= sy;
    }
    this.size = { width, height };
    if (this.points.size && this.canvas.firstChild) this.settle(1);
  }
}

const shorten = (name) => (name.length > 20 ? `${name.slice(0, 19).trimEnd()}…` : name);

function shift(element, x, y) {
  element.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
}

function set(element, values) {
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value.toFixed(1));
}
