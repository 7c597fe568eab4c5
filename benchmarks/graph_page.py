"""Script time (CPU) per frame of the graph explorer while panning: 10,000 entities, headless Chromium, no GPU."""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page, sync_playwright
from screenshots import FLAGS, serving

TYPES = ("service", "team", "library", "person", "dataset", "incident")
KINDS = (("depends_on", True), ("owned_by", True), ("part_of", True), ("related_to", False))
WORDS = "amber birch cedar delta ember fjord grove harbor iris juniper kelp lumen maple nectar onyx pine".split()
COUNT = """
window.frames = 0;
const read = Response.prototype.json;
Response.prototype.json = async function () {
  const body = await read.call(this);
  if (this.url.endsWith("/graph/overview")) window.overview = body;
  return body;
};
const request = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = run => request(time => { window.frames += 1; run(time); });
"""


def make_overview(entities: int, *, seed: int = 7) -> dict[str, Any]:
    """Return a graph with communities of different sizes, in the format of `GET /graph/overview`."""
    rng = random.Random(seed)
    group = [min(int(rng.expovariate(0.05)), 89) for _ in range(entities)]
    members: dict[int, list[int]] = {}
    for entity, number in enumerate(group):
        members.setdefault(number, []).append(entity)
    edges = set()
    for entity, number in enumerate(group):
        for _ in range(4):
            near = members[number]
            other = (
                near[min(int(rng.expovariate(0.06)), len(near) - 1)] if rng.random() < 0.93 else rng.randrange(entities)
            )
            if other != entity:
                edges.add((entity, other, rng.randrange(len(KINDS)), rng.randint(2, 10)))
    ranked = sorted(edges, key=lambda edge: (-edge[3], edge))
    source, target, kind, weight = map(list, zip(*ranked, strict=True))
    return {
        "entities": {
            "name": [f"{WORDS[i % 16].title()} {WORDS[i // 16 % 16].title()} {i}" for i in range(entities)],
            "type": [TYPES[i % len(TYPES)] for i in range(entities)],
            "chunks": [max(1, 400 // (1 + i // 3)) for i in range(entities)],
        },
        "relation_types": [{"name": name, "directed": directed} for name, directed in KINDS],
        "relations": {"source": source, "target": target, "type": kind, "weight": weight},
        "total_entities": entities,
        "total_relations": len(ranked),
    }


def script_seconds(session: CDPSession) -> float:
    """Return the CPU time that scripts of the page have used on its main thread."""
    metrics = {item["name"]: item["value"] for item in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["ScriptDuration"])


def pan(page: Page, session: CDPSession, *, steps: int) -> list[float]:
    """Drag the drawing by small steps; return the script time per frame of each ten steps in milliseconds."""
    box = page.locator("canvas.whole").bounding_box()
    assert box is not None
    x, y = box["x"] + 4, box["y"] + 4
    page.mouse.move(x, y)
    page.mouse.down()
    found = []
    for start in range(0, steps, 10):
        frames, before = page.evaluate("window.frames"), script_seconds(session)
        for step in range(start, start + 10):
            page.mouse.move(x + 60 * math.sin(step / 8), y + 40 * math.sin(step / 5))
        after, drawn = script_seconds(session), page.evaluate("window.frames") - frames
        if drawn:
            found.append(1000 * (after - before) / drawn)
    page.mouse.up()
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=10_000)
    parser.add_argument("--url", default="", help="measure the graph of a running server instead of a generated one")
    parser.add_argument("--steps", type=int, default=300, help="pointer moves per level of detail")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    parser.add_argument("--screenshot", type=Path, help="folder for a screenshot of each level")
    given = parser.parse_args()
    body = "" if given.url else json.dumps(make_overview(given.entities))
    with nullcontext((given.url, [])) if given.url else serving() as (url, _), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=given.chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.add_init_script(COUNT)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        if body:
            page.route("**/graph/overview", lambda route: route.fulfill(body=body, content_type="application/json"))
        page.goto(url + "#/graph")
        page.wait_for_selector("canvas.whole", timeout=300_000)
        began = page.evaluate("performance.now()")
        page.wait_for_selector("[data-arranged]", timeout=300_000)
        arranged = (page.evaluate("performance.now()") - began) / 1000
        graph = page.evaluate("window.overview")
        print(f"{len(graph['entities']['name']):,} entities, {len(graph['relations']['source']):,} relations")
        print(f"layout in the worker: {arranged:.1f} s")
        for level in ("whole graph", "community", "entities with names and arrows"):
            if level == "community":
                page.locator(".choices button").first.click()
            elif level != "whole graph":
                page.get_by_role("button", name="Zoom in").dblclick()
            times = pan(page, session, steps=given.steps)
            middle, high = times[len(times) // 2], times[int(len(times) * 0.95)]
            print(f"{level}: script per frame p50 {middle:.1f} ms, p95 {high:.1f} ms, max {times[-1]:.1f} ms")
            if given.screenshot:
                page.screenshot(path=given.screenshot / f"graph-{level.split()[0]}.png")
        browser.close()


if __name__ == "__main__":
    main()
