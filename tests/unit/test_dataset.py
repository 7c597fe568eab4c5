"""Reading evaluation sets, and asking their questions."""

import gzip
import json

import pytest
from making import adopt, fill
from memory_store.store import MemoryDatabase

from weft.config import SearchOptions
from weft.errors import InputError
from weft.evaluate.dataset import Case, corpus_hash, find_file, read_cases
from weft.evaluate.scoring import answer_cases, summarise, trec_lines
from weft.testing import FakeEmbedder

QUERIES = [{"_id": "q1", "text": "one"}, {"_id": "q2", "text": "two"}, {"_id": "q3", "text": "three"}]
JUDGED = "q1\td1\t2\nq1\td2\t1\nq2\td1\t0\nq3\td3\t1\n"
HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def folder(tmp_path):
    """Give a function that writes a set and returns its folder."""

    def write(queries=QUERIES, judged=HEADER + JUDGED, packed=False):
        (tmp_path / "qrels").mkdir(exist_ok=True)
        lines = queries if isinstance(queries, str) else "\n".join(map(json.dumps, queries)) + "\n"
        for name, text in (("queries.jsonl", lines), ("qrels/test.tsv", judged), ("corpus.jsonl", "{}\n")):
            if packed:
                (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
            else:
                (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write


EXPECTED = [
    Case(id="q1", text="one", gold={"d1": 2, "d2": 1}),
    Case(id="q3", text="three", gold={"d3": 1}),
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("judged", [HEADER + JUDGED, JUDGED, HEADER + JUDGED + "\n\n", JUDGED.replace("\n", "\r\n")])
def test_cases_are_the_questions_with_gold(folder, judged, packed):
    """Plain or packed, with a header or without; a grade of 0 is no gold."""
    assert read_cases(folder(judged=judged, packed=packed)) == EXPECTED


def test_a_limit_takes_the_first(folder):
    """In the order of the file."""
    assert read_cases(folder(), limit=1) == EXPECTED[:1]


def test_ids_are_compared_as_text(folder):
    """Some sets write them as numbers; blank lines are nothing."""
    queries = '{"_id": 7, "text": "seven"}\n\n{"_id": "8", "text": "eight"}\n'

    assert [case.id for case in read_cases(folder(queries=queries, judged="7\t1\t1\n8\t1\t1\n"))] == ["7", "8"]


@pytest.mark.parametrize(
    "judged, line",
    [
        (HEADER + "q1\td1\n", 2),
        (HEADER + "q1\td1\tgood\n", 2),
        (HEADER + JUDGED + "q1 d1 1\n", 6),
        ("q1\td1\t1\nq1\td1\t--5\n", 2),
        ("q1\td1\t1\nq1\td1\t²\n", 2),
        ("q1\t0\td1\t1\n", 1),
    ],
)
def test_malformed_judgements_are_refused_with_their_line(folder, judged, line):
    """A partly read set would give other figures."""
    with pytest.raises(InputError, match=f"invalid judgement in line {line}:"):
        read_cases(folder(judged=judged))


@pytest.mark.parametrize(
    "line",
    [
        "{broken",
        "[1, 2]",
        '"text"',
        "3",
        "null",
        '{"_id": "q"}',
        '{"_id": "q", "text": null}',
        '{"text": "t"}',
        "[" * 99_999,
    ],
)
def test_malformed_questions_are_refused_with_their_line(folder, line):
    """The error is as clear as for judgements."""
    with pytest.raises(InputError, match="invalid query in line 2"):
        read_cases(folder(queries=json.dumps(QUERIES[0]) + f"\n{line}\n"))


def test_a_set_without_gold_is_refused(folder):
    """No measure could be computed."""
    with pytest.raises(InputError, match="no question with a relevant document"):
        read_cases(folder(judged="q9\td1\t1\n"))


def test_a_missing_file_is_named(tmp_path):
    """With the layout that was expected."""
    with pytest.raises(InputError, match=r"qrels/test\.tsv") as caught:
        read_cases(tmp_path)
    assert "BEIR" in caught.value.hint


def test_the_plain_file_comes_before_the_packed_one(folder, tmp_path):
    """The hash is that of the plain file."""
    folder(packed=True)
    packed = corpus_hash(tmp_path)
    folder()

    assert find_file(tmp_path, "corpus.jsonl").name == "corpus.jsonl"
    assert corpus_hash(tmp_path) != packed


def test_documents_count_once_at_their_best_chunk():
    """Rankings are of documents, however many of their chunks were found."""
    embedder = FakeEmbedder()
    store = adopt(MemoryDatabase().store("default"), embedder)
    fill(store, embedder, cats="cats purr\n\n" * 300, dogs="dogs bark")
    steps = []
    answered = answer_cases(
        [Case(id="q1", text="cats purr", gold={"cats": 1}), Case(id="q2", text="dogs", gold={"dogs": 1})],
        store=store,
        embedder=embedder,
        options=SearchOptions(top_k=1, min_score=2.0),
        on_step=lambda: steps.append(1),
    )
    figures = summarise(answered)

    assert [[id for id, _ in a.ranked] for a in answered] == [["cats", "dogs"], ["dogs", "cats"]]
    assert len(steps) == 2
    assert (figures["recall@1"], figures["mrr@10"]) == (1.0, 1.0)
    assert figures["p95_ms"] >= figures["p50_ms"] > 0
    assert trec_lines(answered, tag="t")[0].split()[:4] == ["q1", "Q0", "cats", "1"]
    assert len(trec_lines(answered, tag="t")) == 4
