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
/** What a cell holds, in order of what a name avoids most. */
const [DISC, DOT, NAME] = [1, 2, 3];
/** With more entities than this in front, their names are not needed. */
const MAX_NEEDED = 24;
const sprites = new Map();

/** Return the names to draw, with their positions on the screen, beside the dots and without overlaps. */
export function labelBoxes(renderer, isFar) {
  const { camera, to } = renderer;
  const map = new Taken(camera.width, camera.height);
  for (const { x, y, radius } of renderer.clusters)
    map.takeDisc(x * to.scale + to.a, y * to.scale + to.b, radius * to.scale);
  for (const i of isFar ? [] : renderer.shown) {
    const { x, y } = renderer.place(i);
    const r = renderer.radius(i);
    map.take(x - r, y - r, x + r, y + r, DOT);
  }
  const boxes = [];
  for (const candidate of candidates(renderer, isFar)) {
    const found = freePlace(renderer, map, candidate);
    if (!found) continue;
    const half = halfWidth(found.sprite);
    map.take(found.x - half, found.y - 11, found.x + half, found.y + 3, NAME);
    boxes.push({ ...candidate, ...found });
    if (boxes.length >= MAX_NAMES) break;
  }
  return boxes;
}

const halfWidth = (sprite) => sprite.width / 2 - 2;

/** Return the first free place of a name with its painted text, or undefined. `avoids` lists what it must not cover. */
function freePlace(renderer, map, candidate) {
  for (const least of candidate.avoids) {
    for (const text of candidate.texts) {
      const sprite = spriteOf(renderer, { ...candidate, text });
      const half = halfWidth(sprite);
      const free = positions(candidate, sprite.width).find(
        (at) => !map.isTaken(at.x - half, at.y - 11, at.x + half, at.y + 3, least),
      );
      if (free) return { ...free, text, sprite };
    }
  }
  return undefined;
}

/** Return the positions of a name by preference: right of a dot, left, below, above; above a disc, below, aside, inside. */
function positions({ x, y, r, places, isAround }, width) {
  if (places) return places;
  const aside = r + width / 2 + 1;
  const [right, left] = [{ x: x + aside, y: y + 4 }, { x: x - aside, y: y + 4 }];
  if (!isAround) return [right, left, { x, y: y + r + 13 }, { x, y: y - r - 5 }];
  const shifts = [0, -width / 4, width / 4, -width / 2, width / 2];
  const rows = [y - r - 6, y + r + 16].flatMap((row) => shifts.map((by) => ({ x: x + by, y: row })));
  return [...rows, right, left, { x, y: y + 4 }];
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

  /** Take the rows of a disc. */
  takeDisc(x, y, r) {
    for (let row = y - r; row <= y + r; row += CELL) {
      const half = Math.sqrt(r * r - (row - y) * (row - y));
      this.take(x - half, row, x + half, row, DISC);
    }
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
    texts: [shorten(shown(model.names[i]))],
    ...renderer.place(i),
    r: renderer.radius(i),
    isStrong: i === focus.selected,
    // An important name may lie on dots rather than be missing.
    avoids: special.has(i) && special.size <= MAX_NEEDED ? [DOT, NAME] : [DOT],
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
    return { texts: [types[0]], isQuiet: true, places, avoids: [DOT] };
  });
}

/** Return the names of the communities, around their discs: shorter where there is no room, and if they are far away. */
function clusterNames({ clusters, to }, isFar) {
  return clusters.map(({ x: cx, y: cy, name, count, radius }) => {
    const [x, y, r] = [cx * to.scale + to.a, cy * to.scale + to.b, radius * to.scale];
    const terms = name.split(", ");
    const texts = [terms.slice(0, 2).join(", "), terms[0]].map((text) => `${shorten(text)} · ${count}`);
    const around = { x, y, r, isAround: true, isStrong: true };
    return isFar ? { ...around, texts: texts.slice(1), avoids: [DISC, NAME] } : { ...around, texts, avoids: [DISC, DOT] };
  });
}

/** Return a name of at most 32 characters. */
const shorten = (name) => (name.length > 32 ? `${name.slice(0, 31).trimEnd()}…` : name);
