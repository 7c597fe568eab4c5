/* Canvas renderer with levels of detail: far away communities, closer entities, relations and names. */

import { HUES } from "./model.js";
import { forgetSprites, labelBoxes } from "./names.js";

/** Below this scale an entity is a dot, and relations between communities stand for those between entities. */
const DOT_SCALE = 0.32;
/** From this scale on, arrows are drawn, and relations between two communities one by one. */
const ARROW_SCALE = 0.9;
/** Relations and names per frame; the strongest relations and the most mentioned entities come first. */
const MAX_EDGES = 1500;
const MAX_BUNDLES = 100;

export class Renderer {
  constructor(canvas, camera, model) {
    this.canvas = canvas;
    this.camera = camera;
    this.model = model;
    this.context = canvas.getContext("2d");
    this.clusters = [];
    this.bundles = [];
    this.focus = { selected: -1, near: new Set(), edges: new Set(), found: new Set() };
    this.frame = 0;
    this.readColours();
  }

  /** Draw before the next frame; several changes are drawn once. */
  request() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Read the colours of the theme; a canvas does not follow CSS. */
  readColours() {
    const probe = document.createElement("span");
    document.body.append(probe);
    const read = (name) => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color;
    };
    this.hues = [...Array(HUES).keys()].map((n) => read(`hue-${n}`)).concat(read("no-hue"));
    [this.ink, this.quiet, this.panel, this.line, this.accent, this.edge] = [
      "ink",
      "quiet",
      "panel",
      "line",
      "accent",
      "edge",
    ].map(read);
    probe.remove();
    forgetSprites();
  }

  /** Read the colours again when the theme changes. */
  followTheme() {
    const gone = new AbortController();
    const observer = new MutationObserver(() => recolour());
    const recolour = () => {
      if (!this.canvas.isConnected) {
        observer.disconnect();
        gone.abort();
        return;
      }
      this.readColours();
      this.request();
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour, { signal: gone.signal });
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = Math.min(devicePixelRatio || 1, 2);
    [this.camera.width, this.camera.height] = [width, height];
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.ratio = ratio;
    forgetSprites();
    this.request();
  }

  /** Take the communities of the layout, and sum up the relations between them. */
  setClusters(discs) {
    const { model } = this;
    this.clusters = [...discs.x].map((x, c) => ({
      x,
      y: discs.y[c],
      radius: discs.radius[c],
      count: discs.size[c],
      name: model.communities[c],
      hue: model.groups.find(({ key }) => key === c)?.hue ?? HUES,
    }));
    const sums = new Map();
    for (let e = 0; e < model.size; e += 1) {
      const [a, b] = [model.community[model.source[e]], model.community[model.target[e]]].sort((p, q) => p - q);
      if (a !== b) sums.set(`${a} ${b}`, (sums.get(`${a} ${b}`) ?? 0) + model.weight[e]);
    }
    const strongest = [...sums].sort((p, q) => q[1] - p[1]).slice(0, MAX_BUNDLES);
    this.bundles = strongest.map(([ends, sum]) => {
      const [a, b] = ends.split(" ").map((c) => this.clusters[c]);
      return { a, b, width: 0.5 + Math.min(Math.log2(1 + sum) * 0.45, 5) };
    });
  }

  draw() {
    const { context, camera, ratio } = this;
    const isFar = camera.scale < DOT_SCALE;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    const [a, b] = [camera.width / 2 - camera.x * camera.scale, camera.height / 2 - camera.y * camera.scale];
    // Entities grow slower than the distances between them, so that there is room for names.
    this.to = { scale: camera.scale, a, b, grown: Math.min(camera.scale ** 0.75, 1.6) };
    this.drawClusters(isFar);
    if (camera.scale < ARROW_SCALE) this.drawBundles();
    if (!isFar) this.drawEdges();
    this.drawFocusEdges();
    this.drawPoints(isFar);
    this.drawNames(isFar);
  }

  drawClusters(isFar) {
    const { context, to } = this;
    context.lineWidth = 1;
    for (const { x, y, radius, hue } of this.clusters) {
      context.fillStyle = context.strokeStyle = this.hues[hue];
      context.beginPath();
      context.arc(x * to.scale + to.a, y * to.scale + to.b, radius * to.scale, 0, 7);
      context.globalAlpha = isFar ? 0.2 : 0.1;
      context.fill();
      context.globalAlpha = 0.45;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  drawBundles() {
    const { context, to } = this;
    context.strokeStyle = this.edge;
    context.globalAlpha = 0.28;
    for (const { a, b, width } of this.bundles) {
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(a.x * to.scale + to.a, a.y * to.scale + to.b);
      context.lineTo(b.x * to.scale + to.a, b.y * to.scale + to.b);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  /** Return the shown relations that touch the visible part, strongest first. */
  visibleEdges() {
    const { model } = this;
    const { left, right, top, bottom } = this.camera.box();
    const isNear = this.camera.scale >= ARROW_SCALE;
    const found = [];
    const { x, y, source, target, community, isDrawn } = model;
    for (let e = 0; e < model.size && found.length < MAX_EDGES; e += 1) {
      if (!isDrawn[e]) continue;
      const s = source[e];
      const t = target[e];
      const isInner = community[s] === community[t];
      if (!isNear && !isInner) continue;
      if ((x[s] < left && x[t] < left) || (x[s] > right && x[t] > right)) continue;
      if ((y[s] < top && y[t] < top) || (y[s] > bottom && y[t] > bottom)) continue;
      // A line to a far community that crosses the whole drawing says nothing; the list has it.
      if (!isInner && (x[s] < left || x[s] > right || x[t] < left || x[t] > right)) continue;
      found.push(e);
    }
    return found;
  }

  drawEdges() {
    const { context } = this;
    context.strokeStyle = this.edge;
    context.globalAlpha = this.focus.selected < 0 ? 0.4 : 0.12;
    const edges = this.visibleEdges();
    for (const [low, high, width] of [
      [0, 5, 0.6],
      [5, 8, 1.1],
      [8, 99, 1.8],
    ]) {
      context.lineWidth = width;
      context.beginPath();
      for (const e of edges) if (this.model.weight[e] >= low && this.model.weight[e] < high) this.trace(e);
      context.stroke();
    }
    if (this.camera.scale >= ARROW_SCALE) this.drawArrows(edges, this.edge);
    context.globalAlpha = 1;
  }

  trace(e) {
    const { context, model, to } = this;
    const [s, t] = [model.source[e], model.target[e]];
    context.moveTo(model.x[s] * to.scale + to.a, model.y[s] * to.scale + to.b);
    context.lineTo(model.x[t] * to.scale + to.a, model.y[t] * to.scale + to.b);
  }

  /** Draw an arrow at the target of each directed relation; a symmetric one has none. */
  drawArrows(edges, colour) {
    const { context, model, to } = this;
    context.fillStyle = colour;
    context.beginPath();
    for (const e of edges) {
      if (!model.kinds[model.kind[e]].directed) continue;
      const [s, t] = [model.source[e], model.target[e]];
      const [dx, dy] = [model.x[t] - model.x[s], model.y[t] - model.y[s]];
      const length = Math.hypot(dx, dy) || 1;
      const [ux, uy] = [dx / length, dy / length];
      const reach = this.radius(t) + 1;
      const [x, y] = [model.x[t] * to.scale + to.a - ux * reach, model.y[t] * to.scale + to.b - uy * reach];
      context.moveTo(x, y);
      context.lineTo(x - ux * 7 - uy * 3.2, y - uy * 7 + ux * 3.2);
      context.lineTo(x - ux * 7 + uy * 3.2, y - uy * 7 - ux * 3.2);
    }
    context.fill();
  }

  drawFocusEdges() {
    const { context, model } = this;
    const edges = [...this.focus.edges].filter((e) => model.isDrawn[e]);
    if (!edges.length) return;
    context.strokeStyle = this.accent;
    context.lineWidth = 1.8;
    context.beginPath();
    for (const e of edges) this.trace(e);
    context.stroke();
    if (this.camera.scale >= DOT_SCALE) this.drawArrows(edges, this.accent);
  }

  /** Return the radius of an entity on the screen. */
  radius(i) {
    return Math.max(1.2, this.model.radius(i) * this.to.grown);
  }

  /** Draw all entities of one colour at once: far away as squares, which are cheap, closer as circles. */
  drawPoints(isFar) {
    const { context, model } = this;
    const { scale, a, b } = this.to;
    this.findShown();
    const hues = Array.from({ length: HUES + 1 }, () => []);
    for (const i of this.shown) if (!this.isInFront(i)) hues[model.hue[i]].push(i);
    const front = hues.map(() => []);
    for (const i of this.shown) if (this.isInFront(i)) front[model.hue[i]].push(i);
    [...hues, ...front].forEach((points, n) => {
      const hue = n % hues.length;
      context.globalAlpha = this.focus.selected < 0 || n > HUES ? 1 : 0.4;
      context.fillStyle = this.hues[hue];
      context.beginPath();
      for (const i of points) {
        const r = this.radius(i);
        const x = model.x[i] * scale + a;
        const y = model.y[i] * scale + b;
        if (isFar) context.fillRect(x - r / 2, y - r / 2, r, r);
        else {
          context.moveTo(x + r, y);
          context.arc(x, y, r, 0, 7);
        }
      }
      if (!isFar) context.fill();
    });
    context.globalAlpha = 1;
    this.drawRings();
  }

  isInFront(i) {
    return i === this.focus.selected || this.focus.near.has(i);
  }

  /** Collect the shown entities in the visible part, most mentioned first. */
  findShown() {
    const { x, y, isShown, count } = this.model;
    const { left, right, top, bottom } = this.camera.box();
    const margin = 14 / this.to.scale;
    this.shown = [];
    for (let i = 0; i < count; i += 1) {
      if (!isShown[i] || x[i] < left - margin || x[i] > right + margin) continue;
      if (y[i] >= top - margin && y[i] <= bottom + margin) this.shown.push(i);
    }
  }

  /** Ring the pinned entities, the neighbours of the selected one, and the selected one. */
  drawRings() {
    const { context, model, focus, to } = this;
    const ring = (i, colour, width, space) => {
      if (!model.isShown[i]) return;
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.arc(model.x[i] * to.scale + to.a, model.y[i] * to.scale + to.b, this.radius(i) + space, 0, 7);
      context.stroke();
    };
    for (const i of this.shown) if (model.isPinned[i]) ring(i, this.ink, 1.2, 2);
    for (const i of focus.near) ring(i, this.accent, 1.6, 1.5);
    for (const i of focus.found) ring(i, this.accent, 1.6, 1.5);
    if (focus.selected >= 0) ring(focus.selected, this.ink, 3, 2.5);
  }

  /** Write names that do not overlap: far away of communities, closer of entities. */
  drawNames(isFar) {
    for (const { x, y, sprite } of labelBoxes(this, isFar))
      this.context.drawImage(sprite.image, x - sprite.width / 2, y - sprite.base, sprite.width, sprite.height);
  }

  /** Return the entity at a point of the plane, or null. */
  pick({ x, y }) {
    const { model, camera } = this;
    let [best, nearest] = [null, Infinity];
    for (let i = 0; i < model.count; i += 1) {
      if (!model.isShown[i]) continue;
      const distance = Math.hypot(model.x[i] - x, model.y[i] - y) * camera.scale;
      const reach = Math.max(this.radius(i), 5) + 3;
      if (distance < reach && distance < nearest) [best, nearest] = [i, distance];
    }
    return best;
  }

  /** Return the community at a point of the plane, or -1. */
  pickCluster({ x, y }) {
    return this.clusters.findIndex((disc) => Math.hypot(disc.x - x, disc.y - y) < disc.radius);
  }

  /** Return the names as they are drawn, for an export. */
  names() {
    return labelBoxes(this, this.camera.scale < DOT_SCALE);
  }

  /** Return the place of an entity on the screen. */
  place(i) {
    const { model, to } = this;
    return { x: model.x[i] * to.scale + to.a, y: model.y[i] * to.scale + to.b };
  }

  isNear() {
    return this.camera.scale >= ARROW_SCALE;
  }

  isFar() {
    return this.camera.scale < DOT_SCALE;
  }
}
