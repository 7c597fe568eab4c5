/* Export of the drawing as it is shown: PNG from the canvas, SVG from elements. */

import { svg } from "../dom.js";

/** Save the drawing as a PNG file. */
export function savePng(renderer) {
  const { canvas, context } = renderer;
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = renderer.panel;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.globalCompositeOperation = "source-over";
  canvas.toBlob((blob) => save(blob, "graph.png"), "image/png");
  renderer.request();
}

/** Save the drawing as an SVG file. */
export function saveSvg(renderer) {
  const text = new XMLSerializer().serializeToString(drawing(renderer));
  save(new Blob([text], { type: "image/svg+xml" }), "graph.svg");
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Return the visible part of the drawing as an SVG element. */
export function drawing(renderer) {
  const { model, camera, to } = renderer;
  const at = (i) => [model.x[i] * to.scale + to.a, model.y[i] * to.scale + to.b].map((value) => value.toFixed(1));
  const tip = svg(
    "marker",
    {
      id: "tip",
      viewBox: "0 0 8 8",
      refX: 8,
      refY: 4,
      markerWidth: 7,
      markerHeight: 7,
      orient: "auto",
      markerUnits: "userSpaceOnUse",
    },
    svg("path", { d: "M0 1L8 4L0 7z", fill: renderer.edge }),
  );
  const lines = renderer.isFar() ? bundles(renderer) : renderer.visibleEdges().map((e) => line(renderer, e, at));
  const points = renderer.shown.map((i) => {
    const [cx, cy] = at(i);
    return svg(
      "circle",
      { cx, cy, r: renderer.radius(i).toFixed(1), fill: renderer.hues[model.hue[i]] },
      svg("title", {}, model.names[i]),
    );
  });
  const names = renderer.names().map(({ text, x, y }) =>
    svg(
      "text",
      {
        x: x.toFixed(1),
        y: y.toFixed(1),
        "text-anchor": "middle",
        "font-family": "sans-serif",
        "font-size": 12,
        fill: renderer.ink,
        stroke: renderer.panel,
        "stroke-width": 3,
        "paint-order": "stroke",
      },
      text,
    ),
  );
  return svg(
    "svg",
    { viewBox: `0 0 ${camera.width} ${camera.height}`, width: camera.width, height: camera.height },
    svg("defs", {}, tip),
    svg("rect", { width: "100%", height: "100%", fill: renderer.panel }),
    svg("g", { stroke: renderer.edge, "stroke-opacity": 0.5 }, lines),
    svg("g", {}, points),
    svg("g", {}, names),
  );
}

function bundles({ bundles: all, to }) {
  return all.map(({ a, b, width }) =>
    svg("line", {
      x1: a.x * to.scale + to.a,
      y1: a.y * to.scale + to.b,
      x2: b.x * to.scale + to.a,
      y2: b.y * to.scale + to.b,
      "stroke-width": width,
    }),
  );
}

function line(renderer, e, at) {
  const { model } = renderer;
  const [x1, y1] = at(model.source[e]);
  const [x2, y2] = at(model.target[e]);
  const arrow = model.kinds[model.kind[e]].directed ? "url(#tip)" : null;
  return svg("line", {
    x1,
    y1,
    x2,
    y2,
    "stroke-width": (0.4 + model.weight[e] * 0.15).toFixed(1),
    "marker-end": arrow,
  });
}
