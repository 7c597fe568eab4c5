"""`weft calibrate`, and the commands that report its result."""

import pytest

HILLS = "Almond Birch Cedar Dogwood Elder Fir Gorse Hazel".split()
WORKS = "weir kiln silo depot jetty".split()


@pytest.fixture
def indexed(weft, tmp_path):
    """Forty small documents, indexed with the hash embedder."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for number, (hill, work) in enumerate((hill, work) for hill in HILLS for work in WORKS):
        (docs / f"{number}.md").write_text(
            f"# {hill} {work}\n\nThe {work} on {hill} ridge was surveyed in {1900 + number}. Its foreman kept "
            f"ledgers about timber, gravel and the wages of carters who crossed {hill} ridge at dusk.\n"
        )
    weft("index", "docs", "-q")
    return weft


def test_a_fit_is_printed_stored_and_deleted(indexed):
    """The table compares shipped and fitted numbers; --reset deletes the fit."""
    done = indexed("calibrate")
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in done.out.splitlines()}

    assert rows[""] == ["shipped", "fitted"]
    assert rows["words alone"][0] == "midpoint 0.250, slope 24.0" != rows["words alone"][1]
    assert rows["own: ok / low / no match"][1].startswith("40 / 0 / 0")
    assert "40 probes of namespace 'default', 143 foreign ones (16 most similar ones omitted)" in done.err
    assert "confidence: fitted to 183 probes, area" in indexed("stats").out
    assert "confidence in default: fitted to 183 probes" in indexed("doctor").out
    assert "would delete the calibration" in indexed("calibrate", "--reset", "--dry-run").err
    assert indexed("calibrate", "--reset").err == "deleted the calibration\n"
    assert "confidence: shipped with the embedder" in indexed("stats").out
    assert "there is no calibration to delete" in indexed("calibrate", "--reset").err


def test_a_dry_run_writes_nothing(indexed):
    """It prints the same table."""
    dry = indexed("calibrate", "--dry-run", "--json").json

    assert dry["written"] is False
    assert indexed("stats", "--json").json["confidence"] == {"origin": "shipped"}
    wet = indexed("calibrate", "--json").json
    assert {**wet, "written": False} == dry
    kept = indexed("stats", "--json").json["confidence"]
    assert (kept["origin"], kept["words"], kept["chunks"]) == ("fitted", wet["fitted"]["words"], 40)
    assert indexed("calibrate", "--reset", "--dry-run", "--json").json == {"reset": False}
    assert indexed("stats", "--json").json["confidence"] == kept


def test_another_process_fits_the_same_numbers(indexed):
    """Same index, same probes, same numbers."""
    assert indexed("calibrate", "--json").json == indexed("calibrate", "--json").json


def test_json_has_both_judgements(indexed):
    """Curves, area and counts of own and foreign probes."""
    found = indexed("calibrate", "--probes", "35", "--json").json

    assert found["probes"] == {"own": 35, "foreign": 143, "left_out": 16}
    assert found["model"] == "hash"
    for part in ("shipped", "fitted"):
        assert found[part]["origin"] == part
        assert set(found[part]["own"]) == {"ok", "low_confidence", "no_match"}
        assert sum(found[part]["foreign"].values()) == 143
        assert found[part]["cosine"]["slope"] > 0


def test_too_little_is_refused_with_a_hint(weft, notes):
    """Three documents give too few probes; the shipped numbers stay."""
    weft("index", "notes", "-q")
    done = weft("calibrate", expect=1)

    assert "probes, but 30 are needed" in done.err
    assert "hint: add documents with weft index" in done.err
    assert weft("stats", "--json").json["confidence"] == {"origin": "shipped"}
    assert "30" in weft("calibrate", "--probes", "3", expect=2).err


def test_a_fit_to_a_much_smaller_index_is_reported(indexed, tmp_path):
    """With many more chunks, more of them are close to any question."""
    indexed("calibrate", "-q")
    for number in range(60):
        (tmp_path / "docs" / f"new{number}.txt").write_text(f"Note {number} about ferry timetables and tides.\n")
    indexed("index", "docs", "-q")

    assert "weft calibrate" in indexed("doctor").out
    assert "with 40 chunks at that time" in indexed("stats").out
