"""Papers and projects from the command line."""

import json
import shutil
from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "examples" / "research" / "findings.json"


def test_findings_are_indexed_counted_and_found_by_id(weft, tmp_path):
    """One command indexes them; stats counts them; any spelling of an id finds the paper."""
    shutil.copy(SAMPLE, tmp_path)
    assert weft("index", "findings.json", "--json").json["added"] == 8
    stats = weft("stats", "--json").json

    assert (stats["papers"], stats["projects"], stats["concepts"], stats["citations"]) == (8, 2, 11, 8)
    assert stats["relation_types"]["written_by"] == 24
    assert len(stats["top_entities"]) == 10
    assert "citations: 8\n" in weft("stats").out
    shown = weft("entity", "show", "https://arxiv.org/pdf/1706.03762v5", "--json").json
    assert shown["name"] == "Attention Is All You Need"
    path = weft(
        "path",
        "facebookresearch/DPR",
        "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    )
    assert "—implements(8)→ Dense Passage Retrieval" in path.out
    assert weft("check").out == "no problems found\n"


def test_prune_deletes_papers_removed_from_a_file(weft, tmp_path):
    """A paper that others cite becomes a placeholder again."""
    findings = json.loads(SAMPLE.read_text(encoding="utf-8"))
    (tmp_path / "f.json").write_text(json.dumps(findings), encoding="utf-8")
    weft("index", "f.json", "-q")
    del findings["academic_papers"][0]
    (tmp_path / "f.json").write_text(json.dumps(findings), encoding="utf-8")

    assert weft("index", "f.json", "--prune", "--json").json["pruned"] == 1
    assert weft("entity", "show", "1409.0473", "--json").json["name"] == "arXiv:1409.0473"


def test_a_flawed_file_is_reported_on_stderr_and_the_rest_is_loaded(weft, tmp_path):
    """With record and line, and the record that is kept."""
    papers = [
        {"arxiv_id": "2004.04906", "title": "One"},
        {"abstract": "x"},
        {"arxiv_id": "2004.04906v2", "title": "Two"},
    ]
    (tmp_path / "f.json").write_text(json.dumps({"academic_papers": papers}, indent=1), encoding="utf-8")
    err = weft("index", "f.json").err

    assert "indexed 1 document (1 new" in err
    assert "skipped 1, no id: f.json#academic_papers[1]: line 7: neither id nor title" in err
    assert "arXiv:2004.04906 is a duplicate; academic_papers[0] on line 3 is kept" in err
