/* Worker that finds the communities of a graph and places its entities, so that the page stays responsive. */

import { findCommunities } from "./communities.js";
import { placeAll } from "./placement.js";

addEventListener("message", ({ data }) => {
  const { count, source, target, weight } = data;
  const { community, count: communities, hasRest } = findCommunities(count, source, target, weight);
  const graph = { count, source, target, weight, community, communities };
  const { x, y, discs } = placeAll(graph, (nowX, nowY) => postMessage({ x: nowX.slice(), y: nowY.slice() }));
  postMessage({ x, y, discs, community, communities, hasRest, isDone: true });
});
