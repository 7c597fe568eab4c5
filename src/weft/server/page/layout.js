/* Force-directed layout: points repel, links attract, all points stay inside the frame. Deterministic. */

import { separate } from "./labels.js";

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/** Set the initial position of a point: beside `near` if given, otherwise on a spiral around the centre. */
export function place(point, index, { width, height, near }) {
  const angle = index * GOLDEN_ANGLE;
  const radius = near ? 46 : 26 * Math.sqrt(index);
  point.x = (near ? near.x : width / 2) + radius * Math.cos(angle);
  point.y = (near ? near.y : height / 2) + radius * Math.sin(angle);
  point.vx = 0;
  point.vy = 0;
}

/** Move every point one step. `heat` falls from 1 to 0; points with `pinned` do not move. */
export function step(points, links, { width, height, heat }) {
  const ideal = Math.min(170, 0.94 * Math.sqrt((width * height) / Math.max(points.length, 1)));
  repel(points, ideal, heat);
  for (const { a, b } of links) pull(a, b, ideal, heat);
  for (const point of points) {
    if (point.pinned) continue;
    point.vx += (width / 2 - point.x) * 0.008 * heat;
    point.vy += (height / 2 - point.y) * 0.014 * heat;
    point.vx *= 0.72;
    point.vy *= 0.72;
    point.x = point.x + point.vx;
    point.y = point.y + point.vy;
  }
  separate(points);
  for (const point of points) {
    point.x = clamp(point.x, point.half + 4, width - point.half - 4);
    point.y = clamp(point.y, point.radius + 8, height - point.tall - 8);
  }
}

function repel(points, ideal, heat) {
  for (let i = 0; i < points.length; i += 1) {
    for (let j = i + 1; j < points.length; j += 1) {
      const a = points[i];
      const b = points[j];
      const dx = (a.x - b.x || 0.1 * (i - j)) * 0.8;
      // Labels are wide and flat, so points need more horizontal than vertical distance.
      const dy = (a.y - b.y || 0.1) * 1.3;
      const distance = Math.max(Math.hypot(dx, dy), 8);
      if (distance > ideal * 3) continue;
      const force = Math.min((ideal * ideal) / (distance * distance), 6) * 2.1 * heat;
      push(a, (dx / distance) * force, (dy / distance) * force);
      push(b, (-dx / distance) * force, (-dy / distance) * force);
    }
  }
}

function pull(a, b, ideal, heat) {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const distance = Math.max(Math.hypot(dx, dy), 1);
  const force = ((distance - ideal * 0.95) / distance) * 0.09 * heat;
  push(a, dx * force, dy * force);
  push(b, -dx * force, -dy * force);
}

function push(point, x, y) {
  point.vx += x;
  point.vy += y;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));
