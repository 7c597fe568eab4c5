/* Room of names in a small graph: points are pushed apart until their names fit beside them. */

/** Scripts with wide characters, such as Chinese. */
const WIDE = /[\u2e80-\uffef]/;

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
