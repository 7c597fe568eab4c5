"""Documentation site: it builds strictly, without network, and has the pages generated from code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
OTHER_HOST = re.compile(
    r"""<(?:script|img|iframe|link(?![^>]*rel="canonical"))\b[^>]{0,500}\b(?:src|href)="(?:https?:)?//[^"]+"""
)
"""A file that a browser would load from another host while it shows a page."""


def test_the_site_builds_strictly_and_asks_no_other_host(tmp_path):
    """A missing page, a dead link or anchor, or a page outside the navigation ends the build."""
    pytest.importorskip("material", reason="mkdocs-material is missing: pip install '.[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=HOME,
        env={
            **os.environ,
            "NO_MKDOCS_2_WARNING": "1",
            "PYTHONPATH": str(HOME / "src"),
            "https_proxy": "http://127.0.0.1:9",
        },
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    assert "Help: weft index" in (tmp_path / "cli.html").read_text("utf-8")
    assert "POST /query" in (tmp_path / "http.html").read_text("utf-8")
    python = (tmp_path / "python.html").read_text("utf-8")
    assert "Engine.memory_search" in python and "source_prefix" in python
    assert " at 0x" not in python
    assert "search.top_k" in (tmp_path / "configuration.html").read_text("utf-8")
    assert not (tmp_path / "reference").exists()
    home = (tmp_path / "index.html").read_text("utf-8")
    assert home.index("pip install") < home.index("weft query") and "make demo" not in home
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 50
    assert not [(page.name, found) for page in pages for found in OTHER_HOST.findall(page.read_text("utf-8"))]
    weights = {
        entry["location"].partition("#")[0]: entry.get("boost", 1.0)
        for entry in json.loads((tmp_path / "search" / "search_index.json").read_text("utf-8"))["docs"]
    }
    assert weights["decisions/0018-postgresql.html"] < weights["postgres.html"] < weights["guides/notes.html"]
