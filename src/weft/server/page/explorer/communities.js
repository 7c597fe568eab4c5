/* Communities of a graph: groups with many relations inside and few between them (Louvain method). Deterministic. */

/** Groups smaller than this share one community, because a cluster of two says nothing. */
const MIN_MEMBERS = 4;
const MAX_LEVELS = 4;
const MAX_PASSES = 8;

/** Return the community of each entity, numbered by size, and their number. */
export function findCommunities(count, source, target, weight) {
  const labels = Int32Array.from({ length: count }, (_, i) => i);
  let level = { count, source, target, weight, self: new Float64Array(count) };
  for (let n = 0; n < MAX_LEVELS; n += 1) {
    const moved = moveAll(level);
    const { names, size } = renumber(moved);
    for (let i = 0; i < count; i += 1) labels[i] = names[moved[labels[i]]];
    if (size === level.count) break;
    level = contract(level, moved, names, size);
  }
  return bySize(labels);
}

/** Return the neighbours of each point as ranges of two arrays. */
function adjacency({ count, source, target, weight }) {
  const start = new Int32Array(count + 1);
  for (let e = 0; e < source.length; e += 1) {
    start[source[e] + 1] += 1;
    start[target[e] + 1] += 1;
  }
  for (let i = 0; i < count; i += 1) start[i + 1] += start[i];
  const fill = start.slice();
  const other = new Int32Array(source.length * 2);
  const by = new Float64Array(source.length * 2);
  for (let e = 0; e < source.length; e += 1) {
    const [a, b] = [source[e], target[e]];
    other[fill[a]] = b;
    by[fill[a]++] = weight[e];
    other[fill[b]] = a;
    by[fill[b]++] = weight[e];
  }
  return { start, other, by };
}

/** Move each point to the community with the greatest gain of modularity, until none moves. */
function moveAll(level) {
  const { count, self } = level;
  const { start, other, by } = adjacency(level);
  const label = Int32Array.from({ length: count }, (_, i) => i);
  const degree = Float64Array.from(self, (value) => 2 * value);
  for (let i = 0; i < count; i += 1) for (let at = start[i]; at < start[i + 1]; at += 1) degree[i] += by[at];
  const inside = degree.slice();
  const total = degree.reduce((sum, value) => sum + value, 0) || 1;
  const links = new Float64Array(count);
  for (let pass = 0, isMoving = true; isMoving && pass < MAX_PASSES; pass += 1) {
    isMoving = false;
    for (let i = 0; i < count; i += 1) {
      for (let at = start[i]; at < start[i + 1]; at += 1) links[label[other[at]]] += by[at];
      inside[label[i]] -= degree[i];
      let best = label[i];
      let gain = links[best] - (inside[best] * degree[i]) / total;
      for (let at = start[i]; at < start[i + 1]; at += 1) {
        const to = label[other[at]];
        const found = links[to] - (inside[to] * degree[i]) / total;
        if (found > gain + 1e-9) [best, gain] = [to, found];
      }
      inside[best] += degree[i];
      if (best !== label[i]) isMoving = true;
      for (let at = start[i]; at < start[i + 1]; at += 1) links[label[other[at]]] = 0;
      label[i] = best;
    }
  }
  return label;
}

function renumber(label) {
  const names = new Int32Array(label.length).fill(-1);
  let size = 0;
  for (const value of label) if (names[value] < 0) names[value] = size++;
  return { names, size };
}

/** Return the graph of the communities: relations inside one become its own weight. */
function contract({ source, target, weight, self }, label, names, size) {
  const next = { count: size, source: [], target: [], weight: [], self: new Float64Array(size) };
  const known = new Map();
  for (let i = 0; i < self.length; i += 1) next.self[names[label[i]]] += self[i];
  for (let e = 0; e < source.length; e += 1) {
    const [a, b] = [names[label[source[e]]], names[label[target[e]]]];
    if (a === b) {
      next.self[a] += weight[e];
      continue;
    }
    const key = a < b ? a * size + b : b * size + a;
    const at = known.get(key);
    if (at === undefined) {
      known.set(key, next.source.length);
      next.source.push(a);
      next.target.push(b);
      next.weight.push(weight[e]);
    } else next.weight[at] += weight[e];
  }
  return next;
}

/** Number the communities by size; the small ones share the last number. */
function bySize(labels) {
  const sizes = new Map();
  for (const label of labels) sizes.set(label, (sizes.get(label) ?? 0) + 1);
  const kept = [...sizes].filter(([, size]) => size >= MIN_MEMBERS).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const number = new Map(kept.map(([label], n) => [label, n]));
  const community = labels.map((label) => number.get(label) ?? kept.length);
  return { community, count: kept.length + (kept.length < sizes.size ? 1 : 0), hasRest: kept.length < sizes.size };
}
