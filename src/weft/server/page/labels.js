/* Placement of graph labels without overlaps. */

/** Scripts with wide characters, such as Chinese. */
const WIDE = /[\u2e80-\uffef]/;
/** Positions of a label along its link, in order of preference. */
const POSITIONS = [0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75];

/** Set the size of a point including its name: `half` the width, `tall` below the centre, in pixels. */
export function measure(point, text) {
  const half = [...text].reduce((sum, sign) => sum + (WIDE.test(sign) ? 6 : 3.35), 0);
  point.half = Math.max(point.radius, half) + 3;
  point.tall = point.radius + 18;
}

/** Push points with overlapping names apart, along the axis with the smaller overlap. */
export function separate(points) {
  for (let i = 0; i < points.length; i += 1) {
    for (let j = i + 1; j < points.length; j += 1) {
      const [a, b] = [points[i], points[j]];
      const x = a.half + b.half - Math.abs(a.x - b.x);
      const y = (a.radius + b.tall + b.radius + a.tall) / 2 + 3 - Math.abs(a.y - b.y);
      if (x <= 0 || y <= 0) continue;
      if (x < y) part(a, b, "x", x);
      else part(a, b, "y", y);
    }
  }
}

function part(a, b, axis, overlap) {
  const shift = (a[axis] < b[axis] ? -1 : 1) * Math.min(overlap, 6) * 0.3;
  if (!a.pinned) a[axis] += shift;
  if (!b.pinned) b[axis] -= shift;
}

/** Place each link label on a free position; a label without one is hidden until the points move. */
export function spread(links, points, put) {
  const taken = points.flatMap((p) => [
    { x: p.x, y: p.y, w: p.radius, h: p.radius },
    { x: p.x, y: p.y + p.radius + 10, w: p.half - 4, h: 7 },
  ]);
  for (const link of links) {
    const box = POSITIONS.map((at) => ({
      x: link.a.x + (link.b.x - link.a.x) * at,
      y: link.a.y + (link.b.y - link.a.y) * at,
      w: link.width / 2,
      h: 7,
    })).find((found) => !taken.some((other) => meets(found, other)));
    if (box) taken.push(box);
    put(link, box);
  }
}

const meets = (a, b) => Math.abs(a.x - b.x) < a.w + b.w && Math.abs(a.y - b.y) < a.h + b.h;
