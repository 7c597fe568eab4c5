"""`weft forget`: what it selects, and that no file of a SQLite store keeps a byte of it."""

import json
from dataclasses import replace
from datetime import datetime, timezone

import pytest

from weft.admin.forget import Selection, find_forgettable, forget
from weft.config import read_settings
from weft.engine.adapters import VECTOR_CACHE_FILE
from weft.engine.engine import Engine
from weft.errors import InputError, StoreUnavailable
from weft.index.job_queue import make_job
from weft.models.embedders.vector_cache import CachedEmbedder
from weft.models.llm.extractor import passage_digest
from weft.models.llm.prompt import Prompt
from weft.models.llm.reply_cache import ReplyCache
from weft.models.llm.statistics import ReplyCost
from weft.records import Document, Filter
from weft.testing import FakeEmbedder
from weft.tools.calls import call_tool

MARKER = "Quibblethorn"
"""A word that occurs nowhere else."""


def conversation(id, day, *texts, title="Harbour lights"):
    return {
        "uuid": id,
        "name": title,
        "chat_messages": [
            {"sender": ("human", "assistant")[at % 2], "text": text, "created_at": f"2026-03-{day:02}T10:{at:02}:00Z"}
            for at, text in enumerate(texts)
        ],
    }


SECRET = conversation(
    "aa",
    2,
    f"Who is {MARKER}? {MARKER} Harbour is the keeper of the lights.",
    f"The {MARKER} Society (QTS) owns the {MARKER}-7 beacon. " * 40,
    title=f"About {MARKER}",
)
OTHER = conversation("bb", 9, "Which port do the lights use?", "They use port 8080.")


@pytest.fixture
def engine(tmp_path):
    (tmp_path / "exports").mkdir()
    (tmp_path / "exports" / "conversations.json").write_text(json.dumps([SECRET, OTHER]))
    cached = CachedEmbedder(FakeEmbedder(), path=tmp_path / "cache" / VECTOR_CACHE_FILE)
    given = {"store.db": str(tmp_path / "weft.db"), "models.cache_dir": str(tmp_path / "cache")}
    settings = read_settings(given, environment={}, folder=tmp_path)
    with Engine(settings, embedder=cached) as engine:
        engine.index(tmp_path / "exports")
        engine.memory.add("user", "knows", f"the {MARKER}")
        yield engine
    cached.close()


def traces(folder):
    """Return the files below a folder, other than the export, that contain the marker."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "conversations.json"]
    return sorted(path.name for path in files if MARKER.lower().encode() in path.read_bytes().lower())


def sources(engine):
    return [document.source for document in engine.documents()]


@pytest.mark.parametrize(
    ("selection", "found"),
    [
        (Selection(conversation="aa"), ["claude:aa"]),
        (Selection(conversation="claude:bb"), ["claude:bb"]),
        (Selection(conversation="claude:"), []),
        (Selection(before=datetime(2026, 3, 9)), ["claude:aa"]),
        (Selection(before=datetime(2027, 1, 1, tzinfo=timezone.utc)), ["claude:aa", "claude:bb"]),
        (Selection(matching=MARKER.upper()), ["claude:aa"]),
        (Selection(matching="lights use? assistant"), ["claude:bb"]),
        (Selection(matching="harbour", before=datetime(2026, 3, 5)), ["claude:aa"]),
        (Selection(conversation="bb", matching=MARKER), []),
    ],
)
def test_a_selection_finds_what_matches_all_of_it(engine, selection, found):
    """Facts are found by a text alone."""
    preview = find_forgettable(engine, selection)

    assert [document.source for document in preview.documents] == found
    assert len(preview.facts) == (selection.matching.lower() == MARKER.lower() and not selection.conversation)
    assert sources(engine) == ["claude:aa", "claude:bb"]


def test_an_empty_selection_is_refused(engine):
    """A blank text would match everything."""
    with pytest.raises(InputError):
        find_forgettable(engine, Selection(matching="  "))


def test_no_file_of_the_store_or_the_caches_keeps_a_byte(engine, tmp_path):
    """Tables, postings, graph, facts, finished jobs, free pages, the WAL and the replies of language models."""
    document = engine.documents(Filter(metadata=(("conversation", "aa"),)))
    (secret,) = list(document)
    first, *_ = engine.store.find_chunks(secret.id)
    replies = ReplyCache(tmp_path / "cache" / "replies.db", prompt="p", model="m")
    passage = Prompt().passage(Document(source="", title=secret.title, text=""), first)
    cost = ReplyCost(estimated_in=1, estimated_out=1, tokens_in=1, tokens_out=1, seconds=1)
    replies.write(passage_digest(passage), {"entities": [{"name": MARKER}]}, cost)
    replies.close()
    job = make_job(Document(source=f"text:{MARKER}", title=MARKER, text=MARKER), secret, run="r", recipe="x")
    engine.store.jobs.enqueue([replace(job, source=MARKER)])
    engine.query(f"who is {MARKER}?")
    assert traces(tmp_path)

    forget(engine, find_forgettable(engine, Selection(matching=MARKER)))

    assert traces(tmp_path) == []
    assert sources(engine) == ["claude:bb"]
    assert list(engine.memory.list()) == []
    assert engine.database.check() == []
    assert engine.query("which port do the lights use?").evidence[0].document.source == "claude:bb"


def test_the_cached_vectors_of_forgotten_texts_are_deleted(engine, tmp_path):
    """They could reveal the text; those of other texts stay."""
    cached = CachedEmbedder(FakeEmbedder(), path=tmp_path / "cache" / VECTOR_CACHE_FILE)
    chunks = {d.source: engine.store.find_chunks(d.id) for d in engine.documents()}
    texts = {source: [f"{'About ' + MARKER if source == 'claude:aa' else 'Harbour lights'}\n{found[0].text}"]
             for source, found in chunks.items()}  # fmt: skip
    assert cached.find_unknown([text for found in texts.values() for text in found]) == {}

    forget(engine, find_forgettable(engine, Selection(conversation="aa")))

    assert len(cached.find_unknown(texts["claude:aa"])) == 1
    assert cached.find_unknown(texts["claude:bb"]) == {}
    cached.close()


@pytest.fixture
def short_wait(monkeypatch):
    """Wait shortly for other processes; requested before the engine, which connects with it."""
    monkeypatch.setattr("weft.store.sqlite.connect.BUSY_TIMEOUT_MS", 200)


def test_a_reader_of_the_file_is_reported(short_wait, engine, tmp_path):
    """Its snapshot keeps the old pages, so the text is not gone yet."""
    import apsw

    other = apsw.Connection(str(tmp_path / "weft.db"))
    other.execute("BEGIN").fetchall()
    other.execute("SELECT count(*) FROM document").fetchall()

    with pytest.raises(StoreUnavailable):
        forget(engine, find_forgettable(engine, Selection(conversation="aa")))

    other.execute("ROLLBACK").fetchall()
    other.close()
    engine.database.compact()
    assert sources(engine) == ["claude:bb"]


def test_ctrl_c_after_the_deletion_leaves_no_text(engine, tmp_path, monkeypatch):
    """The command cannot be repeated then, because it no longer finds the conversation."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(engine.memory), "list", interrupt)
    with pytest.raises(KeyboardInterrupt):
        forget(engine, find_forgettable(engine, Selection(conversation="aa")))

    assert sources(engine) == ["claude:bb"]
    assert f"The {MARKER} Society".encode() not in (tmp_path / "weft.db").read_bytes()


def test_a_model_erases_one_conversation(engine):
    """The tool is the command without its preview: a model asks the user itself."""
    answer = call_tool(engine, "memory_forget", {"conversation": "bb"})

    assert answer.values == {"forgotten": 1}
    assert sources(engine) == ["claude:aa"]
