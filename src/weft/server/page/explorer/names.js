/* Names in the drawing: chosen by importance, placed without overlaps, painted once and then copied. */

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
const CELL = 24;
const sprites = new Map();

/** Return the names to draw, with their positions on the screen, so that no two overlap. */
export function labelBoxes(renderer, isFar) {
  const taken = new Set();
  const boxes = [];
  for (const candidate of isFar ? clusterNames(renderer) : entityNames(renderer)) {
    const sprite = spriteOf(renderer, candidate);
    const half = sprite.width / 2;
    const x = inside(candidate.x, half, renderer.camera.width);
    const cells = cellsOf(x - half, x + half, candidate.y - 12, candidate.y + 4);
    if (cells.some((cell) => taken.has(cell))) continue;
    for (const cell of cells) taken.add(cell);
    boxes.push({ ...candidate, x, sprite });
    if (boxes.length >= MAX_NAMES) break;
  }
  return boxes;
}

/** Return the centre of a name, moved so that a name at the edge is not cut; names off the screen stay there. */
const inside = (x, half, width) =>
  x < 0 || x > width || 2 * half > width ? x : Math.min(Math.max(x, half), width - half);

function cellsOf(left, right, top, bottom) {
  const cells = [];
  for (let cx = Math.floor(left / CELL); cx <= Math.floor(right / CELL); cx += 1) {
    for (let cy = Math.floor(top / 16); cy <= Math.floor(bottom / 16); cy += 1) cells.push(cx * 4096 + cy);
  }
  return cells;
}

/** Forget the painted names, because the colours or the resolution changed. */
export const forgetSprites = () => sprites.clear();

/** Return a painted name: writing text takes much longer than copying an image. */
function spriteOf({ ratio = 1, ink, panel }, { text, isStrong }) {
  const key = `${isStrong ? "!" : "."}${text}`;
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
  context.fillStyle = ink;
  context.strokeText(text, 3, BASE);
  context.fillText(text, 3, BASE);
  const sprite = { image, width, height: HEIGHT, base: BASE };
  sprites.set(key, sprite);
  return sprite;
}

function clusterNames({ clusters, to, camera }) {
  return clusters
    .map(({ x, y, name, count, radius }) => ({
      text: `${shorten(name)} · ${count}`,
      x: x * to.scale + to.a,
      y: y * to.scale + to.b + 4,
      isStrong: radius * to.scale > 40,
    }))
    .filter(({ x, y }) => x > 0 && x < camera.width && y > 0 && y < camera.height);
}

function entityNames(renderer) {
  const { model, focus, to, shown = [] } = renderer;
  const first = [focus.selected, ...focus.near, ...focus.found].filter((i) => i >= 0 && model.isShown[i]);
  const special = new Set(first);
  const others = shown.slice(0, MAX_CANDIDATES).filter((i) => !special.has(i));
  return [...first, ...others].map((i) => ({
    text: shorten(model.names[i]),
    x: model.x[i] * to.scale + to.a,
    y: model.y[i] * to.scale + to.b + renderer.radius(i) + 13,
    isStrong: i === focus.selected,
  }));
}

/** Return a name of at most 28 characters. */
const shorten = (name) => (name.length > 28 ? `${name.slice(0, 27).trimEnd()}…` : name);
