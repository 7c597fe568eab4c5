"""Small corpus of four pages, and walks through its graph, for tests of facts in the graph."""

from datetime import datetime, timedelta, timezone

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.records import Document
from weft.testing import FakeEmbedder

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
PAGES = {
    "Tide Gauge": "Measures water at the pier.",
    "Harbour Office": "Keeps the berths in order.",
    "Pilot Roster": "Who brings vessels in, week by week.",
    "Canteen Menu": "Soup on Mondays.",
}
ASKED = "what about the Tide Gauge"


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


def open_on(database, clock, **overrides):
    values = {name.replace("_", ".", 1): value for name, value in overrides.items()}
    made = read_settings({"graph.extractor": "rules", **values}, environment={})
    return Engine(made, database=database, embedder=FakeEmbedder(), clock=clock)


def add_pages(engine):
    engine.add([Document(source=f"{title}.md", title=title, text=text) for title, text in PAGES.items()])
    return engine


def walked(engine, asked=ASKED, **options):
    result = engine.query(asked, method="graph", gate=False, graph={"prune": 0.0, **options})
    return {piece.document.source: piece.graph for piece in result.evidence}


def steps(source):
    return [(step.source, step.type, step.weight, step.target) for step in source.path[:-1]]
