/* Names in the drawing: chosen by importance, placed without overlaps, painted once and then copied. */

import { words } from "../dom.js";
import { shown } from "./model.js";

/** With more pairs of related entities than this in front, their relations have no names. */
const MAX_NAMED_PAIRS = 14;
/** Names per frame. Nobody reads more. */
const MAX_NAMES = 60;
/** Candidates per frame: entities that come later are mentioned less. */
const MAX_CANDIDATES = 200;
/** Painted names that are kept, about 20 kB each. */
const MAX_SPRITES = 600;
const FONT = "12px system-ui, sans-serif";
const BOLD = "600 13px system-ui, sans-serif";
const HEIGHT = 20;
const BASE = 14;
/** Size of a cell of the map of what is taken, in pixels. */
const CELL = 6;
/** What a cell holds. */
const [DOT, NAME] = [1, 2];
/** With more entities than this in front, their names are not needed. */
const MAX_NEEDED = 24;
const sprites = new Map();

/** Return the names to draw, with their positions on the screen, beside the dots and without overlaps. */
export function labelBoxes(renderer, isFar) {
  const { camera } = renderer;
  const map = new Taken(camera.width, camera.height);
  for (const i of isFar ? [] : renderer.shown) {
    const { x, y } = renderer.place(i);
    const r = renderer.radius(i);
    map.take(x - r, y - r, x + r, y + r, DOT);
  }
  const boxes = [];
  for (const candidate of candidates(renderer, isFar)) {
    const sprite = spriteOf(renderer, candidate);
    const half = sprite.width / 2 - 2;
    const all = positions(candidate, sprite.width);
    const isFree = (least) => (at) => !map.isTaken(at.x - half, at.y - 11, at.x + half, at.y + 3, least);
    // An important name may lie on dots rather than be missing.
    const free = all.find(isFree(DOT)) ?? (candidate.isNeeded ? all.find(isFree(NAME)) : undefined);
    if (!free) continue;
    map.take(free.x - half, free.y - 11, free.x + half, free.y + 3, NAME);
    boxes.push({ ...candidate, ...free, sprite });
    if (boxes.length >= MAX_NAMES) break;
  }
  return boxes;
}

/** Return the positions of a name in order of preference: right of the dot, left, below, above. */
function positions({ x, y, r, places }, width) {
  if (places) return places;
  const aside = r + width / 2 + 1;
  return [
    { x: x + aside, y: y + 4 },
    { x: x - aside, y: y + 4 },
    { x, y: y + r + 13 },
    { x, y: y - r - 5 },
  ];
}

/** Map of the drawing in cells: which are under a dot or a name. Outside of the drawing all are. */
class Taken {
  constructor(width, height) {
    this.across = Math.ceil(width / CELL);
    this.down = Math.ceil(height / CELL);
    this.cells = new Uint8Array(this.across * this.down);
  }

  take(left, top, right, bottom, value) {
    const inside = (at) => Math.min(this.across, Math.max(0, at));
    const [a, b] = [inside(Math.floor(left / CELL)), inside(Math.floor(right / CELL) + 1)];
    const [c, d] = [Math.max(0, Math.floor(top / CELL)), Math.min(this.down - 1, Math.floor(bottom / CELL))];
    for (let y = c; y <= d; y += 1) this.cells.fill(value, y * this.across + a, y * this.across + b);
  }

  isTaken(left, top, right, bottom, least) {
    const [a, b] = [Math.floor(left / CELL), Math.floor(right / CELL)];
    const [c, d] = [Math.floor(top / CELL), Math.floor(bottom / CELL)];
    if (a < 0 || c < 0 || b >= this.across || d >= this.down) return true;
    for (let y = c; y <= d; y += 1) for (let x = a; x <= b; x += 1) if (this.cells[y * this.across + x] >= least) return true;
    return false;
  }
}

/** Forget the painted names, because the colours or the resolution changed. */
export const forgetSprites = () => sprites.clear();

/** Return a painted name: writing text takes much longer than copying an image. */
function spriteOf({ ratio = 1, ink, quiet, panel }, { text, isStrong, isQuiet }) {
  const key = `${isStrong ? "!" : isQuiet ? "?" : "."}${text}`;
  const known = sprites.get(key);
  if (known) return known;
  if (sprites.size >= MAX_SPRITES) sprites.delete(sprites.keys().next().value);
  const image = document.createElement("canvas");
  const context = image.getContext("2d");
  context.font = isStrong ? BOLD : FONT;
  const width = Math.ceil(context.measureText(text).width) + 6;
  [image.width, image.height] = [width * ratio, HEIGHT * ratio];
  context.scale(ratio, ratio);
  context.font = isStrong ? BOLD : FONT;
  context.lineJoin = "round";
  context.lineWidth = 3;
  context.strokeStyle = panel;
  context.fillStyle = isQuiet ? quiet : ink;
  context.strokeText(text, 3, BASE);
  context.fillText(text, 3, BASE);
  const sprite = { image, width, height: HEIGHT, base: BASE };
  sprites.set(key, sprite);
  return sprite;
}

/** Return the names by importance: communities unless near, the selected entity and its relations, then all others. */
function candidates(renderer, isFar) {
  const { model, focus, shown: visible = [] } = renderer;
  const isOverview = focus.selected < 0 && !renderer.isNear();
  const clusters = isOverview ? clusterNames(renderer, isFar) : [];
  if (isFar) return clusters;
  const first = [focus.selected, ...focus.near, ...focus.found].filter((i) => i >= 0 && model.isShown[i]);
  const special = new Set(first);
  const others = visible.slice(0, MAX_CANDIDATES).filter((i) => !special.has(i));
  const entityName = (i) => ({
    text: shorten(shown(model.names[i])),
    ...renderer.place(i),
    r: renderer.radius(i),
    isStrong: i === focus.selected,
    isNeeded: special.has(i) && special.size <= MAX_NEEDED,
  });
  const chosen = [...special].map(entityName);
  return [...clusters, ...chosen, ...edgeNames(renderer), ...others.map(entityName)];
}

/** Return the types of the relations in front, in words, if they are few. */
function edgeNames(renderer) {
  const { model, focus } = renderer;
  const pairs = new Map();
  for (const e of focus.edges) {
    if (!model.isDrawn[e]) continue;
    const [a, b] = [model.source[e], model.target[e]];
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    const types = pairs.get(key) ?? pairs.set(key, { a, b, types: [] }).get(key);
    types.types.push(words(model.kinds[model.kind[e]].name));
  }
  if (pairs.size > MAX_NAMED_PAIRS || !renderer.isNear()) return [];
  return [...pairs.values()].map(({ a, b, types }) => {
    const [p, q] = [renderer.place(a), renderer.place(b)];
    const places = [0.5, 0.4, 0.6, 0.3, 0.7].map((at) => ({ x: p.x + (q.x - p.x) * at, y: p.y + (q.y - p.y) * at + 4 }));
    return { text: types[0], isQuiet: true, places };
  });
}

/** Return the names of the communities: far away in their discs, closer above them. */
function clusterNames({ clusters, to }, isFar) {
  return clusters.map(({ x: cx, y: cy, name, count, radius }) => {
    const [x, y, r] = [cx * to.scale + to.a, cy * to.scale + to.b, radius * to.scale];
    const around = [{ x, y: y - r - 6 }, { x, y: y + r + 16 }, { x, y: y - r + 14 }, { x, y: y + 4 }];
    return { text: `${shorten(name.split(", ").slice(0, 2).join(", "))} · ${count}`, places: isFar ? [{ x, y: y + 4 }, ...around] : around, isStrong: true, isNeeded: true };
  });
}

/** Return a name of at most 32 characters. */
const shorten = (name) => (name.length > 32 ? `${name.slice(0, 31).trimEnd()}…` : name);
