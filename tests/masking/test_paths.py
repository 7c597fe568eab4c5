"""Every path into a store masks secrets before anything is stored or embedded."""

import json
import mailbox
import os
import subprocess

import pytest

from weft.admin.exchange_graphs import import_graph
from weft.config import read_settings
from weft.engine.engine import Engine
from weft.engine.parsing.parser_messages import TextInput
from weft.engine.parsing.parser_pool import ParserPool
from weft.index.job_queue import make_job
from weft.masking.masked_documents import mask_document
from weft.records import Candidate, Document, Extraction, Filter, GivenFact, PageLink, StatedRelation, Turn
from weft.testing import FakeEmbedder
from weft.tools.calls import call_tool

PASSWORD, KEY = "Qu1bble-thorn!", "ghp_" + "a1B2" * 9
SECRETS = (PASSWORD, KEY)
SAID = f"Use PGPASSWORD={PASSWORD} psql, and {KEY} for the registry."


@pytest.fixture
def engine(tmp_path):
    """Give an engine whose embedder records all texts; at the end no secret is in the store or was embedded."""
    settings = read_settings({"store.db": str(tmp_path / "weft.db")}, environment={}, folder=tmp_path)
    with Engine(settings, embedder=FakeEmbedder()) as made:
        yield made
        seen = [*made.embedder.seen, *stored_texts(made)]
    assert [text for text in seen if any(map(text.__contains__, SECRETS))] == []
    assert not any(secret.encode() in (tmp_path / "weft.db").read_bytes() for secret in SECRETS)


def stored_texts(engine):
    """Yield all texts of a store: documents, chunks, terms, names, facts, jobs."""
    store = engine.store
    documents = list(store.find_documents(Filter()))
    for batch in store.batches([document.id for document in documents]):
        yield repr((batch.document, [(chunk.chunk, chunk.terms, chunk.extraction) for chunk in batch.chunks]))
    yield repr(store.graph.top_entities(limit=1000))
    for fact in engine.memory.list():
        yield repr((fact, engine.memory.history(fact.id)))


def only_text(engine):
    (document,) = engine.documents()
    return document, "\n".join(chunk.text for chunk in engine.store.find_chunks(document.id))


def test_a_transcript(engine, tmp_path):
    """Messages, the title made of the first one, and folded tool calls; nothing is cut inside a secret."""
    call = {"type": "tool_use", "name": "Bash", "input": {"command": f"curl -u admin:{PASSWORD} {'x' * 90} {KEY} now"}}
    records = [
        {"type": "user", "sessionId": "s", "message": {"content": SAID}, "cwd": f"/tmp/{KEY}"},
        {"type": "assistant", "sessionId": "s", "message": {"content": [{"type": "text", "text": "Done."}, call]}},
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))

    engine.index(path)

    document, text = only_text(engine)
    assert document.title.startswith("Use PGPASSWORD=[a password] psql, and [an API key]")
    assert "[Bash: curl -u admin:[a password] xx" in text
    assert document.metadata["folder"] == "/tmp/[an API key]"


def test_a_mail(engine, tmp_path):
    """Subject and body."""
    box = mailbox.mbox(tmp_path / "a.mbox")
    box.add(f"From: a@example.org\nSubject: The key {KEY}\nMessage-ID: <1@example.org>\n\n{SAID}\n")
    box.close()

    engine.index(tmp_path / "a.mbox")

    assert only_text(engine)[0].title == "The key [an API key]"


def test_a_commit(engine, tmp_path):
    """Message and title; the names made of them too."""
    variables = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    for role in ("AUTHOR", "COMMITTER"):
        variables |= {f"GIT_{role}_NAME": "Release Team", f"GIT_{role}_EMAIL": "release@example.org"}
    message = f"Rotate {KEY}\n\nThe old password: {PASSWORD} is void."
    for arguments in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "--message", message]):
        subprocess.run(["git", "-C", tmp_path, *arguments], env=variables, check=True)

    engine.index_commits(tmp_path)

    document, text = only_text(engine)
    assert document.title.endswith("Rotate [an API key]")
    assert "The old password: [a password] is void." in text


@pytest.mark.parametrize("workers", [0, 1])
def test_a_file_and_its_front_matter(engine, tmp_path, workers):
    """In this process, and as a job that waits for another one."""
    path = tmp_path / "note.md"
    path.write_text(f"---\npassword: {PASSWORD}\ntags: [a, {KEY}]\n---\n# Setup\n\n{SAID}\n")
    document = mask_document(Document(source="a", title=SAID, text=SAID))

    if workers:
        engine.index(path)
        assert only_text(engine)[0].metadata["password"] == "[a password]"
    job = make_job(document, engine.indexing.components().describe(document, None), run="r", recipe="r")
    assert not any(map(job.payload.__contains__, SECRETS))


def test_a_posted_text(engine):
    """The parser process of the server masks it, before it is split."""
    with ParserPool(1) as pool:
        items = [TextInput(source="a", text=SAID, title=f"About {KEY}", metadata={"api_key": KEY})]
        engine.indexing.add_prepared(engine.indexing.prepare(items, parsers=pool))

    assert only_text(engine)[0].title == "About [an API key]"


def test_a_text_from_python(engine):
    """`Engine.add_text` and `Engine.add`."""
    engine.add_text(SAID, source="a", title=KEY, metadata={"note": SAID})

    assert only_text(engine)[1].startswith("Use PGPASSWORD=[a password] psql, and [an API key] for")


@pytest.mark.parametrize(
    "fields",
    [
        {"value": SAID},
        {"value": PASSWORD, "predicate": "db_password"},
        {"value": "dark mode", "note": SAID},
        {"value": "dark mode", "subject": KEY},
        {"object": KEY},
        {"value": "dark mode", "predicate": f"uses {KEY}"},
        {"value": "dark mode", "source": KEY},
    ],
)
def test_a_fact(engine, fields):
    """A secret in any field refuses the fact, from Python and from the tool of a model."""
    given = {"subject": "user", "predicate": "prefers", **fields}

    assert engine.memory.add_many([GivenFact(**given)])[0].outcome == "refused"
    if not {"source", "note"} & fields.keys():
        call_tool(engine, "memory_add", given)
    assert list(engine.memory.list()) == []


def test_the_description_of_an_entity_and_the_reason_of_a_rejection(engine):
    """Both are texts beside a fact."""
    fact = engine.memory.add("user", "prefers", "dark mode", description=SAID).fact
    engine.memory.reject(fact.id, reason=SAID)

    assert "[an API key]" in engine.memory.history(fact.id)[-1].detail


def test_an_imported_graph(engine, tmp_path):
    """Its documents, and its annotations of stored chunks."""
    engine.add_text("The gate is old.", source="text:a")
    (document,) = engine.documents()
    rows = [
        {"source": "Gate", "target": "Harbour", "type": "uses", "description": SAID, "passages": [document.source]},
        {"source": KEY, "target": "Gate", "type": "opens", "description": SAID},
    ]
    path = tmp_path / "graph.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))

    assert import_graph(engine, path).relations


def test_turns_links_and_names_of_a_document():
    """Offsets of turns move with the text; names that contain a secret are left out with their relations."""
    text = f"user: {SAID}\n\nassistant: done"
    names = [Candidate(key=KEY.lower(), name=KEY, kind="given"), Candidate(key="gate", name="Gate", kind="given")]
    document = Document(
        source="a",
        title="t",
        text=text,
        form="conversation",
        links=(PageLink(1, f"https://me:{PASSWORD}@example.org/x", KEY),),
        turns=(Turn(0, None, True), Turn(text.index("assistant"), None, False)),
        given=Extraction(
            candidates=tuple(names),
            stated_relations=(StatedRelation(source=KEY.lower(), target="gate", type="opens", weight=1.0),),
        ),
    )

    found = mask_document(document)

    assert found.text[found.turns[1].start :] == "assistant: done"
    assert found.links == (PageLink(1, "https://me:[a password]@example.org/x", "[an API key]"),)
    assert found.given == Extraction(candidates=(names[1],))
    assert mask_document(found) is found


def test_secrets_stay_if_the_settings_allow_them(tmp_path):
    """For files and facts; conversations, mails and commits are masked in any case."""
    given = {"store.db": str(tmp_path / "weft.db"), "memory.allow_secrets": True}
    with Engine(read_settings(given, environment={}, folder=tmp_path), embedder=FakeEmbedder()) as engine:
        engine.add_text(SAID, source="a")

        assert only_text(engine)[1] == SAID
