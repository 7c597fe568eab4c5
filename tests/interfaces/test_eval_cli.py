"""`weft eval` on the command line."""

import json
import re

import pytest


def write_set(folder, words, *, asked):
    """A set of one question about one of its documents."""
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": f"d{i}", "title": word, "text": f"about {word}"} for i, word in enumerate(words)]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": asked}) + "\n")
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\nq1\td{words.index(asked)}\t1\n")


def test_eval_prints_the_promised_keys(weft, tmp_path):
    """One method gives one object, all methods a list; every key exists; the run file is in TREC format."""
    write_set(tmp_path / "tiny", ["apple", "pear", "plum"], asked="pear")
    one = weft("eval", "tiny", "--json", "--run", "run.txt").json
    everything = weft("eval", "tiny", "--json", "--method", "all").json

    keys = {f"recall@{k}" for k in (1, 2, 5, 10, 20)} | {"ndcg@10", "mrr@10", "all_gold@5", "p50_ms", "p95_ms"}
    keys |= {"embed_p50_ms", "index_seconds", "queries", "documents", "method"}
    assert keys <= set(one)
    assert (one["recall@1"], one["queries"], one["documents"]) == (1.0, 1, 3)
    assert [row["method"] for row in everything] == ["vector", "keyword", "hybrid", "graph", "mix", "auto"]
    without = weft("eval", "tiny", "--json", "--method", "all", "--embedder", "none").json
    assert [row["method"] for row in without] == ["keyword", "mix", "auto"]  # the others would be keywords too
    assert re.match(r"q1 Q0 d1 1 [\d.]+ weft-auto\n", (tmp_path / "run.txt").read_text())


def test_a_folder_without_a_corpus_is_no_set(weft, tmp_path):
    """The error names what is missing."""
    (tmp_path / "notes").mkdir()

    assert "corpus.jsonl" in weft("eval", "notes", expect=1).err


def test_a_store_with_other_documents_is_measured_with_them_and_says_so(weft, tmp_path):
    """Two sets in one namespace change the figures of both."""
    write_set(tmp_path / "fruit", ["apple", "pear"], asked="pear")
    write_set(tmp_path / "trees", ["oak", "elm"], asked="elm")
    alone = weft("eval", "fruit", "--db", "x.db")
    mixed = weft("eval", "trees", "--db", "x.db")
    apart = weft("eval", "trees", "--db", "x.db", "-N", "trees")

    said = "documents outside this set are searched too: 2"
    assert said not in alone.err and said not in apart.err
    assert said in mixed.err and "--namespace" in mixed.err


def test_a_copy_of_a_set_is_measured_alone(weft, tmp_path):
    """The cached index of the first is not extended."""
    for folder in ("here", "there"):
        write_set(tmp_path / folder, ["apple", "pear"], asked="pear")

    assert [weft("eval", folder, "--json").json["documents"] for folder in ("here", "there")] == [2, 2]


def test_a_plot_is_drawn(weft, tmp_path):
    """`--plot` writes a picture."""
    pytest.importorskip("matplotlib")
    write_set(tmp_path / "tiny", ["apple"], asked="apple")
    weft("eval", "tiny", "--method", "all", "--plot", "plot.png")

    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
