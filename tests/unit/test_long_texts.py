"""Texts that a SQLite file stores compressed are read as they were written."""

from weft.config import Settings
from weft.engine.engine import Engine
from weft.records import Document
from weft.store.sqlite.database import SqliteDatabase

FILLER = " ".join(f"Brick {n} of the north wall was fired at the usual heat and cooled for a day." for n in range(9))


def test_a_relation_is_described_by_a_sentence_of_a_long_text(tmp_path, embedder):
    engine = Engine(Settings(), database=SqliteDatabase(str(tmp_path / "store.db")), embedder=embedder)
    engine.add([Document(source=f"{name}.md", title=name, text="It works.") for name in ("Blue Kiln", "Rope Works")])
    engine.add([Document(source="notes.md", title="Notes", text=f"{FILLER} Blue Kiln buys from Rope Works. {FILLER}")])

    graph = engine.store.graph
    kiln = graph.find_entities(["blue kiln"])["blue kiln"].id
    found = graph.describe(graph.co_occurrences([kiln], limit=5))
    assert {relation.description for relation in found} == {"Blue Kiln buys from Rope Works."}
