"""Papers and their citations from the command line."""

import json

import pytest

FINDINGS = {
    "academic_papers": [
        {"arxiv_id": "2501.03236", "title": "MAGMA Memory", "abstract": "Agents remember in graphs.", "year": 2025},
        {"arxiv_id": "2502.00001", "title": "Forgetting", "abstract": "Drop it.", "references": ["2501.03236v2"]},
    ]
}


@pytest.fixture
def findings(tmp_path):
    path = tmp_path / "findings.json"
    path.write_text(json.dumps(FINDINGS))
    return path


def test_a_file_can_be_searched_without_a_store(weft, findings, tmp_path):
    """It is indexed in memory, for this question alone."""
    done = weft("query", "--load", findings, "who cites MAGMA Memory?", "--explain")

    assert "1. Forgetting" in done.out
    assert "path: MAGMA Memory —cited_by(10)→ Forgetting —described in→" in done.out
    assert "method graph (citation question (citing))" in done.out
    assert "chosen by the rule citation (language: en; citation: citing; entities: MAGMA Memory" in done.out
    assert "indexed 2 documents" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["findings.json"]


def test_the_choice_is_in_the_json(weft, findings):
    """It has every feature; the exit code is the usual one."""
    shown = weft("query", "-q", "--load", findings, "papers that cite arXiv:2501.03236", "--json").json
    missed = weft("query", "-q", "--load", findings, "who cites Forgetting", "--json", expect=3)

    assert (shown["method"], shown["choice"]["rule"]) == ("graph", "citation")
    assert shown["choice"]["features"]["ids"] == ["arXiv:2501.03236"]
    assert [piece["document"]["title"] for piece in shown["results"]] == ["Forgetting"]
    assert missed.err == ""
    assert "no indexed paper cites 'Forgetting'" in missed.json["notes"]


def test_a_file_and_a_store_cannot_be_searched_together(weft, findings):
    """--load and --db exclude each other."""
    assert (
        "--load cannot be combined with --db" in weft("query", "--load", findings, "--db", "x.db", "who?", expect=2).err
    )


def test_rules_can_be_switched_off_in_the_settings(weft, findings, tmp_path):
    """The setting lists the active rules."""
    (tmp_path / "weft.toml").write_text('[search]\nauto_rules = ["exact"]\n')
    weft("trust", "--yes")
    shown = weft("query", "-q", "--load", findings, "who cites MAGMA Memory?", "--no-gate", "--json").json

    assert (shown["method"], shown["choice"]["rule"]) == ("mix", "default")
