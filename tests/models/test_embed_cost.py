"""Cost of an embedder behind HTTP: estimated, counted, limited, and never paid twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from embed_serving import MODEL, TOKENS, Weft, sent, serve_embedder, settle, twice, vectors, weft, write_texts
from loopback import Endpoint

from weft.engine.adapters import open_embedder
from weft.engine.opening.open_engine import open_engine
from weft.errors import BoundReached, ConfigError
from weft.evaluate.retrieval import evaluate_folder
from weft.models.llm.prices import find_embedding_price, find_price

__all__ = ["weft"]

NOTE = """---
owner: Grace Hopper
status: draft
---
# Rate limiter

The rate limiter is a service that slows down callers. It depends on Redis.

## History

Alan Turing wrote the first version, which was slow. {more}
"""


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An embedder with a price, at whose endpoint tokens are counted."""
    with serve_embedder() as running:
        settle(tmp_path, running, monkeypatch, WEFT_MODELS_PRICES="tiny=1000", WEFT_GRAPH_EXTRACTOR="rules")
        yield running


def write_notes(folder: Path) -> None:
    """Write notes with names that are described, facts, and a passage that stands twice."""
    folder.mkdir()
    for number in range(70):
        (folder / f"{number}.md").write_text(NOTE.format(more=f"It had {number} callers."))
    (folder / "again.md").write_text(NOTE.format(more="It had 7 callers."))


def test_what_is_said_before_is_what_is_done(tmp_path: Path, endpoint: Endpoint, weft: Weft) -> None:
    """Texts with names and entities of facts, known ones and requests; nothing is sent or kept before."""
    write_notes(tmp_path / "notes")
    dry = weft("index", "notes", "--dry-run")
    said = weft("estimate", "notes")["embedder"]
    assert (sent(endpoint), (tmp_path / "cache").exists()) == ([], False)
    done = weft("index", "notes")

    assert (dry["embedded"], dry["cached"]) == (done["embedded"], done["cached"])
    assert (said["model"], said["texts"], said["cached"]) == (MODEL, done["embedded"], done["cached"])
    assert said["calls"] == dry["embedding"]["calls"] == done["embedding"]["calls"] == len(endpoint.requests) - 1
    assert len(sent(endpoint)) - 1 == done["embedded"] > done["chunks"]  # the first one is for the dimension
    assert twice(endpoint) == []
    assert done["cached"] > 0
    assert dry["embedding"]["tokens_estimated"] and not done["embedding"]["tokens_estimated"]
    assert done["embedding"]["tokens"] == TOKENS * done["embedded"]
    assert done["embedding"]["cost"] == pytest.approx(1000 * done["embedding"]["tokens"] / 1e6)
    assert said["cost"] == pytest.approx(1000 * said["tokens"] / 1e6)


def test_only_what_is_not_known_counts(tmp_path: Path, endpoint: Endpoint, weft: Weft) -> None:
    """Stored and cached texts are not counted."""
    write_notes(tmp_path / "notes")
    weft("index", "notes")
    (tmp_path / "notes" / "new.md").write_text("# Something else\n\nIt was never heard of.")

    here, there = (weft("estimate", "notes", "--db", name)["embedder"] for name in ("weft.db", "other.db"))
    done = weft("index", "notes", "--db", "other.db")

    assert here["texts"] == there["texts"] == done["embedded"] == 2  # the passage, and what it says of the name
    assert (here["calls"], there["calls"]) == (1, 1)


def test_a_switch_is_said_before_as_it_is_done(tmp_path: Path, endpoint: Endpoint, weft: Weft) -> None:
    """Chunks, names and entities of facts; nothing is sent or written before, and the embedder before answers."""
    write_notes(tmp_path / "notes")
    weft("index", "notes", "--embedder", "hash")
    before = weft("stats")
    dry = weft("reembed", "--dry-run")
    assert (sent(endpoint), weft("stats")) == ([], before)
    done = weft("reembed")

    for name in ("model", "chunks", "embedded", "cached"):
        assert dry[name] == done[name]
    assert done["chunks"] == before["chunks"] < done["embedded"] == len(sent(endpoint)) - 1
    assert dry["embedding"]["calls"] == done["embedding"]["calls"] == len(endpoint.requests) - 1
    assert done["embedding"]["cost"] == pytest.approx(1000 * TOKENS * done["embedded"] / 1e6)
    again = weft("reembed", "--dry-run")
    assert (again["chunks"], again["embedded"], again["embedding"]) == (0, 0, {})


def test_tokens_that_the_endpoint_does_not_count_are_estimated(tmp_path: Path, endpoint: Endpoint, weft: Weft) -> None:
    """The receipt marks the estimate."""
    write_texts(tmp_path / "texts", 3)
    endpoint.default = lambda request: vectors(request, tokens=None)
    said = weft("estimate", "texts")["embedder"]
    done = weft("index", "texts")["embedding"]

    assert done["tokens_estimated"] and done["tokens"] == said["tokens"] > 0
    (tmp_path / "texts" / "one.txt").write_text("One more text.")
    assert "tokens are estimated" in weft("index", "texts", as_json=False)


def test_a_total_is_taken_where_it_is_all_that_is_counted(tmp_path: Path, endpoint: Endpoint, weft: Weft) -> None:
    """Some servers leave out `prompt_tokens`."""
    write_texts(tmp_path / "texts", 3)

    def answer(request: dict[str, Any]) -> Any:
        found = vectors(request)
        return type(found)(body=found.body.replace(b"prompt_tokens", b"total_tokens"))

    endpoint.default = answer
    done = weft("index", "texts")

    assert (done["embedding"]["tokens"], done["embedding"]["tokens_estimated"]) == (TOKENS * done["embedded"], False)


def test_an_embedder_on_this_machine_costs_nothing(tmp_path: Path, endpoint: Endpoint, weft: Weft) -> None:
    """It is neither fetched nor loaded to say so."""
    write_texts(tmp_path / "texts", 3)
    local = ("--embedder", "local/granite-30m")
    said = weft("estimate", "texts", *local)["embedder"]

    assert (said["calls"], said["tokens"], said["cost"], said["texts"]) == (0, 0, 0, 6)
    assert "no cost: nothing is sent" in weft("estimate", "texts", *local, as_json=False)
    assert "no cost: nothing is sent" in weft("index", "texts", "--dry-run", *local, as_json=False)
    assert weft("index", "texts", "--dry-run", *local)["embedding"] == {}
    assert weft("index", "texts", "--dry-run", "--embedder", "none")["embedded"] == 0
    assert (sent(endpoint), (tmp_path / "cache").exists()) == ([], False)


def test_a_price_that_is_not_known_is_not_guessed(
    tmp_path: Path, endpoint: Endpoint, weft: Weft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate names the setting for it."""
    write_texts(tmp_path / "texts", 3)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://embed.example.org/v1")
    monkeypatch.delenv("WEFT_MODELS_PRICES")

    assert weft("estimate", "texts")["embedder"]["cost"] is None
    assert "unknown price, set models.prices" in weft("estimate", "texts", as_json=False)
    message = weft("index", "texts", "--max-cost", "1", expect=2)
    assert "cannot limit the cost" in message and "models.prices" in message


@pytest.mark.parametrize(
    ("model", "base_url", "own", "price"),
    [
        ("openai/text-embedding-3-small", "", (), 0.02),
        ("openai/text-embedding-3-small", "", ("text-embedding-3-small=7",), 7.0),
        ("openai/text-embedding-3-small", "https://gateway.example.org/v1", (), None),
        ("openai/any", "http://127.0.0.1:8080/v1", (), 0.0),
        ("openai/any", "", ("openai/any=0.5",), 0.5),
        ("openai/any", "", (), None),
    ],
)
def test_prices_are_found_as_those_of_language_models(
    model: str, base_url: str, own: tuple[str, ...], price: float | None
) -> None:
    """The order is: prices of the user, local models, the table."""
    found = find_embedding_price(model, base_url=base_url, own=own)

    assert found == (None if price is None else (price, 0.0))


@pytest.mark.parametrize("text", ["tiny", "tiny=", "=1", "tiny=cheap", "tiny=1/2", "tiny=-1", "tiny=inf"])
def test_a_price_that_cannot_be_read_is_refused(text: str) -> None:
    """With the form it has."""
    with pytest.raises(ConfigError, match=r"models.prices") as caught:
        find_embedding_price("openai/tiny", own=(text,))

    assert "text-embedding-3-small=0.02" in caught.value.hint
    with pytest.raises(ConfigError, match=r"llm.prices"):
        find_price("openai/tiny", own=("tiny=1",))


def test_a_bound_is_not_passed_and_nothing_is_lost(tmp_path: Path, endpoint: Endpoint, weft: Weft) -> None:
    """The run ends cleanly, deletes nothing, says how to go on, and the next one does."""
    write_texts(tmp_path / "texts", 300)
    weft("index", "texts", "--embedder", "openai/tiny", "--no-graph", "--include", "299.txt")
    (tmp_path / "texts" / "299.txt").unlink()
    spent = []
    for _ in range(9):
        receipt = weft("index", "texts", "--no-graph", "--prune", "--max-cost", "1")
        spent.append(receipt["embedding"].get("cost", 0))
        if not receipt["embedding"].get("stopped"):
            break
        assert (receipt["pruned"], receipt["embedding"]["stopped"]) == (0, "$1")
        assert receipt["notes"] == ["stopped at $1; run again to continue"]

    assert len(spent) > 2 and max(spent) <= 1
    assert receipt["pruned"] == 1
    assert (weft("stats")["documents"], twice(endpoint)) == (299, [])
    assert weft("check") == []


def test_a_switch_that_a_bound_ends_goes_on(tmp_path: Path, endpoint: Endpoint, weft: Weft) -> None:
    """The embedder before answers until it is done."""
    write_texts(tmp_path / "texts", 300)
    weft("index", "texts", "--no-graph", "--embedder", "hash")
    first = weft("reembed", "--max-cost", "2")

    assert first["embedding"]["stopped"] == "$2" and first["embedding"]["cost"] <= 2
    assert "the previous embedder stays active" in first["notes"][0]
    assert [m["name"] for m in weft("stats")["models"] if m["active"]] == ["hash"]
    assert "queries now use" not in weft("reembed", "--max-cost", "0.01", as_json=False)
    done = weft("reembed")
    assert first["embedded"] + done["embedded"] == 300
    assert [m["name"] for m in weft("stats")["models"]] == [MODEL]
    assert twice(endpoint) == []


def test_figures_of_a_part_of_a_set_are_not_given(tmp_path: Path, endpoint: Endpoint) -> None:
    """A bound ends an evaluation with an error."""
    lines = [f'{{"_id": "{n}", "title": "", "text": "Passage {n} is short."}}' for n in range(200)]
    folder = tmp_path / "set"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "passage 3"}')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\t3\t1\n")
    with (
        open_engine(tmp_path / "e.db", models_max_cost=0.5) as engine,
        pytest.raises(BoundReached, match=r"\$0.5"),
    ):
        evaluate_folder(folder, settings=engine.settings)


def test_workers_count_together_and_share_no_bound(tmp_path: Path, endpoint: Endpoint, weft: Weft) -> None:
    """The receipt has the usage of all workers; a cost limit applies to one process."""
    write_texts(tmp_path / "texts", 80)
    assert "one process" in weft("index", "texts", "--workers", "2", "--max-cost", "1", expect=2)
    done = weft("index", "texts", "--no-graph", "--workers", "2")

    assert done["embedded"] == 80 and twice(endpoint) == []
    assert (done["embedding"]["calls"], done["embedding"]["tokens"]) == (len(endpoint.requests) - 1, 80 * TOKENS)


def test_questions_are_neither_counted_nor_bounded(tmp_path: Path, endpoint: Endpoint) -> None:
    """They are asked beside what is written."""
    with open_engine(tmp_path / "q.db", models_max_cost=0.02) as engine:
        engine.add_text("cats purr", source="a")
        for number in range(20):
            assert not engine.query(f"question {number}").degraded
        receipt = engine.add_text("dogs bark", source="b")

    assert (receipt.embedding.calls, receipt.embedding.cost) == (1, pytest.approx(TOKENS / 1000))


def test_a_bound_below_zero_is_refused(tmp_path: Path) -> None:
    """The check is the same as for the language model."""
    with pytest.raises(ConfigError, match=r"models.max_cost"):
        open_engine(tmp_path / "w.db", models_max_cost=-1)


def test_an_estimate_needs_no_language_model(tmp_path: Path, endpoint: Endpoint, weft: Weft) -> None:
    """A sample needs one."""
    write_texts(tmp_path / "texts", 3)

    assert (weft("estimate", "texts")["model"], weft("estimate", "texts")["calls"]) == ("", 0)
    assert "--model" in weft("estimate", "texts", "--sample", "3", expect=2)
    both = weft("estimate", "texts", "--model", "openai/gpt-4o-mini")
    assert (both["calls"], both["embedder"]["calls"]) == (3, 2)  # the first document, and the others
    said = weft("estimate", "texts", "--model", "openai/gpt-4o-mini", as_json=False)
    assert "embedder: openai/tiny" in said and "model: openai/gpt-4o-mini" in said


def test_opening_an_embedder_sends_nothing(tmp_path: Path, endpoint: Endpoint) -> None:
    """Estimating the cost sends nothing either."""
    with open_engine(tmp_path / "w.db") as engine:
        embedder = open_embedder(engine.settings)
        assert embedder is not None and embedder.card.name == MODEL
        assert engine.preview_reembed().embedding.calls == 0
    assert sent(endpoint) == []
