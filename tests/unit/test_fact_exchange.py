"""Export and import of facts."""

import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_store.store import MemoryDatabase

from weft.admin.exchange_facts import export_facts, import_facts
from weft.admin.exchange_graphs import export_graph
from weft.config import read_settings
from weft.engine.engine import Engine
from weft.errors import InputError
from weft.exchange.clean import to_name, to_text
from weft.extract.names import name_key, predicate_key
from weft.facts.validation import refusal
from weft.records import Fact
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder
from weft.text.normalise import fold, squeeze

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)


def open_on(database, *, namespace="default", now=NOW, **more):
    given = {"store.db": ":memory:", "store.namespace": namespace, **more}
    settings = read_settings(given, environment={}, folder=None)
    return Engine(settings, database=database, embedder=FakeEmbedder(), clock=lambda: now)


@pytest.fixture(params=["memory", "sqlite"])
def engine(request):
    database = MemoryDatabase() if request.param == "memory" else SqliteDatabase(":memory:")
    with open_on(database) as engine:
        yield engine
        assert database.check() == []


@pytest.fixture
def write(tmp_path):
    """Give a function that writes records or lines to a file and returns its path."""

    def write(lines, name="memory.jsonl"):
        path = tmp_path / name
        text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def entity(name, *observations, type="thing"):
    return {"type": "entity", "name": name, "entityType": type, "observations": list(observations)}


def relation(source, type, target):
    return {"type": "relation", "from": source, "to": target, "relationType": type}


def canonical(records):
    """Return what a memory file says, whatever the order of its lines, observations and fields."""
    entities = {r["name"]: (r["entityType"], frozenset(r["observations"])) for r in records if r["type"] == "entity"}
    return entities, {(r["from"], r["relationType"], r["to"]) for r in records if r["type"] == "relation"}


def exported(engine, form="memory"):
    return [json.loads(line) for line in export_facts(engine, form=form)]


# ── memory ──────────────────────────────────────────────────────────────────────────────────────


def test_a_memory_file_becomes_facts(engine, write):
    """Entities with their types, observations as values, relations to entities; the same again is known."""
    path = write(
        [
            entity("Auth Service", "runs on port 8443", type="service"),
            entity("Session Store", type="store"),
            relation("Auth Service", "dependsOn", "Session Store"),
        ]
    )
    receipt = import_facts(engine, path)

    assert (receipt.form, receipt.entities, receipt.added, receipt.refused, receipt.skipped) == ("memory", 2, 2, (), ())
    found = {(f.subject_name, f.predicate, f.object, f.value, f.source) for f in engine.memory.list()}
    assert found == {
        ("Auth Service", "observation", "", "runs on port 8443", "file"),
        ("Auth Service", "dependson", "session store", "Session Store", "file"),
    }
    again = import_facts(engine, path, source="conversation")
    assert (again.added, again.strengthened, again.known) == (0, 0, 2)
    assert "runs on port 8443" in engine.memory.context(engine.memory.recall("Auth Service?"), budget=500).text


def test_entities_without_facts_stay_until_they_are_forgotten(engine, write):
    """Forgetting facts of others does not take them along."""
    import_facts(engine, write([entity("空的实体", type="概念"), entity("Tea", "is hot")]))
    engine.memory.forget(next(iter(engine.memory.list())).id)

    assert exported(engine) == [entity("Tea"), entity("空的实体", type="概念")]
    assert engine.memory.forget(entities=["空的实体"]) == 0
    import_facts(engine, write([relation("Cup", "holds", "tea"), entity("Cup", "is blue")]))
    assert engine.memory.forget(entities=["Tea"]) == 1
    assert exported(engine) == [entity("Cup", "is blue")]


def test_what_cannot_be_taken_as_it_stands_is_said(engine, write):
    """Names that are one entity here, types that differ, what hygiene refuses, broken lines; never a secret."""
    secret = "sk-" + "a1B2c3D4e5F6g7H8i9J0"
    path = write(
        [
            entity("Ledger"),
            entity("the ledgers", type="book"),
            entity("🚀"),
            relation("Ledger", "", "Cup"),
            "{broken\n",
            "[1]\n",
            entity("Key", secret, "ok", "is used"),
        ]
    )
    receipt = import_facts(engine, path)

    assert receipt.skipped == (
        "line 2: 'the ledgers' is merged with 'Ledger'",
        "line 2: type 'book' ignored: 'Ledger' already has the type 'thing'",
        "line 3: name '🚀' has neither letters nor digits",
        "line 4: relationType is missing",
        "line 5: JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        "line 6: expected an object",
    )
    assert [line.split(":")[0] for line in receipt.refused] == ["Key observation"] * 2
    assert secret not in str(receipt)
    assert [fact.value for fact in engine.memory.list()] == ["is used"]


NAMES = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("abcXYZ 019éß中文-'")), max_size=20)
NAMES = NAMES.map(to_name).filter(name_key)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).map(to_text)


def is_let_in(value, *, object=""):
    fact = Fact(id="", subject="a", subject_name="a", predicate="observation", value=value, object=object, created=NOW)
    return not refusal(fact)


@st.composite
def memories(draw):
    """Give the records of a memory file without two names for one thing."""
    names = draw(st.lists(NAMES.filter(lambda n: is_let_in(n, object="x")), min_size=1, max_size=5, unique_by=name_key))
    kinds = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(to_name)
    said = st.lists(TEXTS.filter(is_let_in), max_size=3, unique_by=lambda text: squeeze(fold(text)))
    types = NAMES.filter(predicate_key)
    records = [entity(name, *draw(said), type=draw(kinds)) for name in names]
    relations = st.builds(relation, st.sampled_from(names), types, st.sampled_from(names))
    key = lambda r: (name_key(r["from"]), predicate_key(r["relationType"]), name_key(r["to"]))  # noqa: E731
    records += draw(st.lists(relations, max_size=4, unique_by=key))
    return draw(st.permutations(records))


@settings(max_examples=settings.default.max_examples, deadline=None, suppress_health_check=list(HealthCheck))
@given(records=memories(), copies=st.booleans())
def test_a_memory_file_survives_the_round_trip(tmp_path_factory, records, copies):
    """Order and script do not matter; repeated lines are merged; both stores write the same file."""
    path = tmp_path_factory.mktemp("memory") / "memory.jsonl"
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    path.write_text("".join(lines * (1 + copies)), encoding="utf-8")
    out = []
    for database in (MemoryDatabase(), SqliteDatabase(":memory:")):
        with open_on(database) as engine:
            receipt = import_facts(engine, path, form="memory")
            assert (receipt.skipped, receipt.refused) == ((), ())
            out.append(exported(engine))
    assert canonical(out[0]) == canonical(records)
    assert out[0] == out[1]


# ── facts with their life ───────────────────────────────────────────────────────────────────────


def live(engine):
    """Give a memory in which everything has happened."""
    memory = engine.memory
    first = memory.add("user", "Lives in", object="Berlin", confidence=1 / 3, description="the one who asks").fact
    memory.confirm(first.id)
    second = memory.supersede(first.id, object="Lisbon", source="conversation", valid_from=NOW - timedelta(days=3)).fact
    memory.confirm(second.id)
    memory.reject(memory.add("user", "likes", "päpper \n  and salt", note="a note").fact.id, reason="no")
    memory.expire(memory.add("JACQ Project", "状态", "活跃").fact.id, at=NOW + timedelta(microseconds=7))
    memory.recall("where do I live?")
    engine.add_text("# Auth Service\n\n- Status: live\n- Owner: [[Identity Team]]\n", source="note")


def test_facts_come_back_as_they_were(engine, write):
    """Ids, status, times, confidence, accesses, history, entities: the export of the copy is the same."""
    live(engine)
    lines = list(export_facts(engine))
    assert len(lines) == 7
    for database in (MemoryDatabase(), SqliteDatabase(":memory:")):
        with open_on(database) as other:
            receipt = import_facts(other, write(lines))
            assert (receipt.form, receipt.added, receipt.known, receipt.refused) == ("facts", 6, 0, ())
            again = [json.loads(line) for line in export_facts(other)]
            assert again == [{k: v for k, v in json.loads(line).items() if k != "documents"} for line in lines]
            assert list(other.memory.list()) == list(engine.memory.list())
            assert import_facts(other, write(lines)).known == 6
            assert database.check() == []


def test_what_is_here_stays_as_it_is(engine, write):
    """The same id or the same statement is known, and what referred to it refers to the one here."""
    first = engine.memory.add("user", "lives in", object="Berlin").fact
    engine.memory.supersede(first.id, object="Lisbon")
    lines = list(export_facts(engine))
    with open_on(MemoryDatabase(), namespace="other") as other:
        mine = other.memory.add("User", "lives_in", object="berlin").fact
        receipt = import_facts(other, write(lines))

        assert mine.id != first.id and (receipt.added, receipt.known) == (1, 1)
        found = {fact.value: fact for fact in other.memory.list()}
        assert found["Lisbon"].supersedes == mine.id and found["berlin"] == mine


def test_a_second_confirmed_value_is_refused(write):
    """Nothing is written, and the error names both facts."""
    with open_on(MemoryDatabase()) as engine:
        for city in ("Berlin", "Lisbon"):
            engine.memory.confirm(engine.memory.add("user", "lives in", object=city).fact.id)
        lines = list(export_facts(engine))
    with open_on(SqliteDatabase(":memory:"), **{"memory.single_valued": ["lives in"]}) as other:
        with pytest.raises(InputError, match="overlap in single-valued"):
            import_facts(other, write(lines))
        assert other.store.facts.count() == (0, 0)


FACT = {
    "id": "f" + "0" * 24,
    "subject": "user",
    "predicate": "likes",
    "value": "tea",
    "created": "2026-01-01T00:00:00Z",
}


@pytest.mark.parametrize(
    "change",
    [
        {"id": "f1"},
        {"id": 7},
        {"subject": "🚀"},
        {"predicate": "?"},
        {"object": "Tea"},
        {"value": ""},
        {"confidence": 2},
        {"confidence": True},
        {"status": "gone"},
        {"status": "confirmed"},
        {"created": "soon"},
        {"created": None},
        {"valid_to": "2025-01-01"},
        {"access_count": -1},
        {"access_count": 2**70},
        {"supersedes": "f" + "1" * 24},
        {"supersedes": "x"},
        {"history": [{"at": "2026-01-01", "action": "rejected"}]},
        {"history": [{"at": "2026-01-01", "action": "added", "who": "me"}]},
        {"history": [{"at": "2026-01-01", "action": "added", "other": "f" + "2" * 24}]},
        {"history": "long"},
        {"colour": "blue"},
    ],
    ids=str,
)
def test_a_wrong_line_is_refused_with_all_others(engine, write, change):
    """It says what is wrong, and nothing is written."""
    good = {**FACT, "id": "f" + "3" * 24, "value": "coffee"}
    with pytest.raises(InputError):
        import_facts(engine, write([good, {**FACT, **change}]), form="facts")
    assert engine.store.facts.count() == (0, 0)
    assert import_facts(engine, write([good, FACT])).added == 2
    with pytest.raises(InputError, match="another fact"):
        import_facts(engine, write([{**good, "value": "water"}]))
    with pytest.raises(InputError, match="two facts have the same id"):
        import_facts(engine, write([FACT, FACT]))


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\x00\x01\x02" * 99, b"hello", b'{"a": 1}', b"[]", b"\xff\xfe{"])
def test_what_is_no_file_of_facts_is_refused(engine, tmp_path, data):
    """Empty, binary, prose, other JSON, half a character."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    for form in (None, "facts", "memory"):
        with pytest.raises(InputError):
            import_facts(engine, path, form=form)
    assert engine.store.facts.count() == (0, 0)


def test_facts_are_relations_of_an_exported_graph_on_request(engine):
    """Only valid facts with an entity as object are exported, under the names of the graph."""
    live(engine)
    engine.memory.add("AUTH services", "dependsOn", object="Session Store", confidence=0.05)
    plain, full = export_graph(engine), export_graph(engine, facts=True)
    known = {(r.source, r.type, r.target) for r in plain.relations}
    added = {(r.source, r.type, r.target): r.weight for r in full.relations[len(plain.relations) :]}

    assert set(plain.entities) <= set(full.entities)
    assert added["Auth Service", "depends_on", "Session Store"] == 1.0
    assert ("user", "lives_in", "Lisbon") in added and ("user", "lives_in", "Berlin") not in added
    assert not known & added.keys()
    assert {end for s, _, t in added for end in (s, t)} <= {entity.name for entity in full.entities}
