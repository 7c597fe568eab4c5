"""Name of the distribution: weft-search, because another project owns the name weft."""

import re
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
FORMER_NAME = re.compile(r"(?<![\w.-])weft\[[a-z{]|pip install (?:-\S+ )*['\"]?weft(?![\w-])")


def test_doctor_warns_of_the_other_distribution(weft, tmp_path):
    """Its files may replace those of Weft; without it there is no such finding."""
    assert "distribution weft" not in weft("doctor").out

    metadata = tmp_path / "site" / "weft-0.3.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: weft\nVersion: 0.3\n")
    found = weft("doctor", "--json", PYTHONPATH=str(metadata.parent)).json

    (finding,) = [row for row in found if row["what"] == "distribution weft"]
    assert finding["state"] == "warning" and finding["hint"] == "run pip uninstall weft"
    assert finding["detail"] == "the distribution weft 0.3 is another project"


@pytest.mark.parametrize("name", ["weft[html]", "pip install 'weft[html]'", "pip install weft", "pip install -U weft"])
def test_the_former_name_is_recognised(name):
    """The pattern of the next test can fail."""
    assert FORMER_NAME.search(name)


@pytest.mark.parametrize("name", ["weft-search[html]", "pip install weft-search", "weft --db FILE", "weft[0]"])
def test_other_names_are_not_taken_for_it(name):
    """The command and the package are still called weft."""
    assert not FORMER_NAME.search(name)


def test_no_file_installs_the_other_distribution():
    """Every command that installs an extra names weft-search."""
    suffixes = {".py", ".md", ".toml", ".html", ".js", ".json", ".sql", ".txt"}
    files = [HOME / name for name in ("README.md", "Makefile", "pyproject.toml")]
    for folder in ("src", "docs", "tests", "benchmarks", "examples"):
        files += [path for path in (HOME / folder).rglob("*") if path.is_file() and path.suffix in suffixes]
    lines = [
        f"{path.relative_to(HOME)}:{number}"
        for path in files
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), start=1)
        if FORMER_NAME.search(line)
    ]

    assert lines == []
