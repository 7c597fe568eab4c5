/* Worker that finds the communities of a graph and places its entities, so that the page stays responsive. */

import { findCommunities } from "./communities.js";
import { placeAll } from "./placement.js";

addEventListener("message", ({ data }) => {
  const { count, source, target, weight } = data;
  const degree = new Float64Array(count);
  for (const ends of [source, target]) for (const i of ends) degree[i] += 1;
  // A relation to a hub says little about what an entity belongs to.
  const damped = weight.map((value, e) => value / Math.sqrt(Math.max(degree[source[e]], degree[target[e]])));
  const { community, count: communities, hasRest } = findCommunities(count, source, target, damped);
  const graph = { count, source, target, weight, community, communities };
  const { x, y, discs } = placeAll(graph, (nowX, nowY) => postMessage({ x: nowX.slice(), y: nowY.slice() }));
  postMessage({ x, y, discs, community, communities, hasRest, isDone: true });
});
