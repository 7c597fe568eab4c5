/* Layout of a whole graph: communities are discs that do not overlap, entities are placed inside. Deterministic. */

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
/** Distance between two entities. */
const SPACE = 26;
/** Distance between two communities: their names stand between them. */
const GAP = 3 * SPACE;
const STEPS = 140;
/** Positions are reported after this many steps, so that the drawing can follow. */
const REPORTED_STEPS = 28;
/** More communities than this keep their first place: moving them takes quadratic time. */
const MAX_MOVED = 300;
const CENTRE_STEPS = 160;

/** Place all entities; `report(x, y)` is called in between. */
export function placeAll({ count, source, target, weight, community, communities }, report) {
  const discs = placeDiscs(count, source, target, weight, community, communities);
  const [x, y] = [new Float32Array(count), new Float32Array(count)];
  const inner = [];
  for (let e = 0; e < source.length; e += 1) if (community[source[e]] === community[target[e]]) inner.push(e);
  const degree = degrees(count, source, target, inner);
  sow(x, y, community, discs, degree);
  for (let step = 0; step < STEPS; step += 1) {
    const heat = 1 - step / STEPS;
    // A hub has many relations; together they must not outweigh the space between entities.
    for (const e of inner)
      pull(x, y, source[e], target[e], heat / Math.sqrt(Math.max(degree[source[e]], degree[target[e]])));
    repel(x, y, heat);
    hold(x, y, community, discs, heat);
    if (step % REPORTED_STEPS === REPORTED_STEPS - 1) report(x, y);
  }
  for (let step = 0; step < STEPS / 4; step += 1) repel(x, y, 1);
  shrink(x, y, community, discs);
  return { x, y, discs };
}

function degrees(count, source, target, edges) {
  const degree = new Int32Array(count);
  for (const e of edges) {
    degree[source[e]] += 1;
    degree[target[e]] += 1;
  }
  return degree;
}

/** Place the communities on a spiral by size, then move connected ones together without overlaps. */
function placeDiscs(count, source, target, weight, community, communities) {
  const size = new Int32Array(communities);
  for (let i = 0; i < count; i += 1) size[community[i]] += 1;
  const radius = Float32Array.from(size, (members) => SPACE * 0.7 * Math.sqrt(members) + SPACE);
  const [x, y] = [new Float32Array(communities), new Float32Array(communities)];
  let area = 0;
  for (let c = 0; c < communities; c += 1) {
    area += radius[c] * radius[c] * 1.5;
    x[c] = Math.sqrt(area) * Math.cos(c * GOLDEN_ANGLE);
    y[c] = Math.sqrt(area) * Math.sin(c * GOLDEN_ANGLE);
  }
  const moved = Math.min(communities, MAX_MOVED);
  const links = linksBetween(source, target, weight, community, moved);
  for (let step = 0; step < CENTRE_STEPS; step += 1) {
    const heat = 1 - step / CENTRE_STEPS;
    for (const { a, b, strength } of links) {
      const by = 0.06 * heat * strength;
      const [dx, dy] = [x[b] - x[a], y[b] - y[a]];
      shift(x, y, a, dx * by, dy * by);
      shift(x, y, b, -dx * by, -dy * by);
    }
    for (let c = 0; c < moved; c += 1) shift(x, y, c, -x[c] * 0.012 * heat, -y[c] * 0.012 * heat);
    part(x, y, radius, moved);
  }
  for (let n = 0; n < 60; n += 1) part(x, y, radius, moved);
  return { x, y, radius, size };
}

/** Return the relations between communities, each with its share of the strongest one. */
function linksBetween(source, target, weight, community, limit) {
  const sums = new Map();
  for (let e = 0; e < source.length; e += 1) {
    const [a, b] = [community[source[e]], community[target[e]]].sort((p, q) => p - q);
    if (a !== b && b < limit) sums.set(a * limit + b, (sums.get(a * limit + b) ?? 0) + weight[e]);
  }
  const most = Math.max(...sums.values(), 1);
  return [...sums].map(([key, sum]) => ({
    a: Math.floor(key / limit),
    b: key % limit,
    strength: Math.sqrt(sum / most),
  }));
}

function shift(x, y, i, dx, dy) {
  x[i] += dx;
  y[i] += dy;
}

/** Push overlapping discs apart. */
function part(x, y, radius, count) {
  for (let a = 0; a < count; a += 1) {
    for (let b = a + 1; b < count; b += 1) {
      const dx = x[b] - x[a] || 0.01;
      const dy = y[b] - y[a] || 0.01;
      const reach = radius[a] + radius[b] + GAP;
      if (dx > reach || dx < -reach || dy > reach || dy < -reach) continue;
      const distance = Math.sqrt(dx * dx + dy * dy);
      const overlap = reach - distance;
      if (overlap <= 0) continue;
      const share = radius[b] / (radius[a] + radius[b]);
      const by = (overlap / distance) * 0.5;
      shift(x, y, a, -dx * by * share, -dy * by * share);
      shift(x, y, b, dx * by * (1 - share), dy * by * (1 - share));
    }
  }
}

/** Place entities in their community on a spiral, those with most relations in the middle. */
function sow(x, y, community, discs, degree) {
  const order = Array.from(degree.keys()).sort((a, b) => degree[b] - degree[a] || a - b);
  const placed = new Int32Array(discs.x.length);
  for (const i of order) {
    const c = community[i];
    const n = placed[c]++;
    const distance = SPACE * 0.6 * Math.sqrt(n);
    x[i] = discs.x[c] + distance * Math.cos(n * GOLDEN_ANGLE);
    y[i] = discs.y[c] + distance * Math.sin(n * GOLDEN_ANGLE);
  }
}

function pull(x, y, a, b, strength) {
  const dx = x[b] - x[a];
  const dy = y[b] - y[a];
  const distance = Math.max(Math.sqrt(dx * dx + dy * dy), 1);
  const by = ((distance - SPACE * 1.4) / distance) * 0.08 * strength;
  shift(x, y, a, dx * by, dy * by);
  shift(x, y, b, -dx * by, -dy * by);
}

/** Push entities apart that are closer than the space between two; only those in neighbouring cells are compared. */
function repel(x, y, heat) {
  const { cellOf, first, next, across } = cells(x, y);
  for (let i = 0; i < x.length; i += 1) {
    const cell = cellOf[i];
    // The cell itself and half of its neighbours: the other half finds this cell.
    for (let j = next[i]; j >= 0; j = next[j]) push(x, y, i, j, heat);
    for (const other of [cell + 1, cell + across - 1, cell + across, cell + across + 1]) {
      for (let j = first[other]; j >= 0; j = next[j]) push(x, y, i, j, heat);
    }
  }
}

/** Sort the entities into square cells: `first` of a cell and `next` of an entity form lists that end with -1. */
function cells(x, y) {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < x.length; i += 1) {
    left = Math.min(left, x[i]);
    right = Math.max(right, x[i]);
    top = Math.min(top, y[i]);
    bottom = Math.max(bottom, y[i]);
  }
  // A margin of one cell on each side, so that neighbours always exist.
  const across = Math.ceil((right - left) / SPACE) + 3;
  const down = Math.ceil((bottom - top) / SPACE) + 3;
  const first = new Int32Array(across * down + across).fill(-1);
  const next = new Int32Array(x.length);
  const cellOf = new Int32Array(x.length);
  for (let i = 0; i < x.length; i += 1) {
    const cell = (Math.floor((y[i] - top) / SPACE) + 1) * across + Math.floor((x[i] - left) / SPACE) + 1;
    cellOf[i] = cell;
    next[i] = first[cell];
    first[cell] = i;
  }
  return { cellOf, first, next, across };
}

function push(x, y, a, b, heat) {
  const dx = x[b] - x[a] || 0.1 * ((a % 7) - 3.5);
  const dy = y[b] - y[a] || 0.1;
  const square = dx * dx + dy * dy;
  if (square >= SPACE * SPACE) return;
  const distance = Math.max(Math.sqrt(square), 0.5);
  const by = ((SPACE - distance) / distance) * 0.3 * (0.4 + 0.6 * heat);
  shift(x, y, a, -dx * by, -dy * by);
  shift(x, y, b, dx * by, dy * by);
}

/** Make each disc as large as its entities need. */
function shrink(x, y, community, discs) {
  discs.radius.fill(0);
  for (let i = 0; i < x.length; i += 1) {
    const c = community[i];
    const distance = Math.hypot(x[i] - discs.x[c], y[i] - discs.y[c]);
    discs.radius[c] = Math.max(discs.radius[c], distance + SPACE * 0.8);
  }
}

/** Keep entities inside the disc of their community. */
function hold(x, y, community, { x: cx, y: cy, radius }, heat) {
  for (let i = 0; i < x.length; i += 1) {
    const c = community[i];
    const dx = x[i] - cx[c];
    const dy = y[i] - cy[c];
    shift(x, y, i, -dx * 0.01 * heat, -dy * 0.01 * heat);
    const distance = Math.hypot(dx, dy);
    const limit = radius[c] - SPACE * 0.4;
    if (distance > limit) shift(x, y, i, dx * (limit / distance - 1), dy * (limit / distance - 1));
  }
}
