"""JSON values of records."""

import json
from pathlib import Path

import jsonschema
import pytest
from making import make_evidence

from weft.context.serialise import (
    SCHEMA_VERSION,
    chunk_to_dict,
    context_to_dict,
    document_to_dict,
    receipt_to_dict,
    result_to_dict,
    stats_to_dict,
)
from weft.records import ChannelHit, Context, Receipt, Rejected, Result, Skipped, StoredModel, StoreStats
from weft.search.cite import cite

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text("utf-8"))


def make_result(**changes):
    values = {
        "query": "q",
        "method": "hybrid",
        "reason": "",
        "status": "ok",
        "confidence": 0.123456,
        "evidence": (make_evidence("text", score=0.123456789, heading=("A",)),),
        "counts": {"vector": 1},
        "timings": {"embed": 1.26},
    }
    return Result(**{**values, **changes})


def test_a_result_follows_the_published_schema():
    """Full, empty, rejected and degraded ones."""
    rejected = Rejected(citation="a:1", score=0.1, reason="weak")
    for result in (
        make_result(),
        make_result(evidence=(), status="no_match", rejected=rejected, notes=("n",)),
        make_result(status="degraded", degraded="no embedder"),
    ):
        values = result_to_dict(result)
        jsonschema.validate(values, SCHEMA)
        assert json.loads(json.dumps(values)) == values


def test_numbers_are_rounded_and_empty_fields_are_null():
    """Six digits for scores, four for the confidence, a tenth of a millisecond."""
    values = result_to_dict(make_result())

    assert values["schema_version"] == SCHEMA_VERSION
    assert (values["confidence"], values["results"][0]["score"]) == (0.1235, 0.123457)
    assert values["timings_ms"] == {"embed": 1.3}
    assert (values["rejected"], values["degraded"]) == (None, None)
    assert values["results"][0]["chunk"]["heading"] == ["A"]


def test_the_source_of_a_result_is_the_channel_that_ranked_it_highest():
    """Ties go to the name that comes first."""

    def best(**ranks):
        channels = {name: ChannelHit(rank=rank, score=1.0) for name, rank in ranks.items()}
        return result_to_dict(make_result(evidence=(make_evidence("t", channels=channels),)))["results"][0]["source"]

    assert best(vector=2, keyword=1) == {"type": "keyword"}
    assert best(vector=1, keyword=3) == {"type": "vector"}
    assert best(vector=1, keyword=1) == {"type": "keyword"}


def test_a_receipt_counts_what_was_skipped_by_reason():
    """The skipped files are listed too."""
    skipped = (Skipped(source="b", reason="binary"), Skipped(source="e", reason="empty", detail="x"))
    values = receipt_to_dict(Receipt(documents=1, seconds=1.23456, skipped=(*skipped, skipped[0])))

    assert values["skipped"] == {"binary": 2, "empty": 1}
    assert values["skipped_files"][1] == {"source": "e", "reason": "empty", "detail": "x"}
    assert values["seconds"] == 1.235
    json.dumps(values)


def test_stats_contexts_chunks_and_documents_are_plain():
    """All values are JSON types."""
    model = StoredModel(name="m", fingerprint="f", dimension=3, active=True)
    stats = StoreStats(documents=1, chunks=2, terms=3, vectors=2, generation=4, models=(model,))
    piece = make_evidence("text")
    context = Context(text="t", tokens=1, sources=({"id": "c"},), omitted=0)
    values = [
        stats_to_dict(stats),
        context_to_dict(context),
        chunk_to_dict(piece.chunk),
        document_to_dict(piece.document),
    ]

    assert json.loads(json.dumps(values)) == values
    assert values[0]["models"] == [{"name": "m", "fingerprint": "f", "dimension": 3, "active": True}]


@pytest.mark.parametrize(
    "unit, start, end, expected",
    [
        ("line", 3, 9, "notes.md:3-9"),
        ("line", 3, 3, "notes.md:3"),
        ("page", 3, 4, "notes.md:p3-4"),
        ("page", 2, 2, "notes.md:p2"),
    ],
)
def test_a_citation_names_lines_or_pages(unit, start, end, expected):
    """A single line or page gives one number."""
    from dataclasses import replace

    piece = make_evidence("text", unit=unit)
    assert cite(piece.document, replace(piece.chunk, start_line=start, end_line=end)) == expected
